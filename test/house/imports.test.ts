import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

const IMPORTS = 'lint/style/noRestrictedImports'
const GLOBALS = 'lint/style/noRestrictedGlobals'

/** One house rule: a file that breaks it, and one beside it that keeps it. */
interface Rule {
  readonly title: string
  readonly file: string
  readonly category: string
  readonly breaks: string
  readonly keeps: string
}

function importRule(title: string, file: string, forbidden: string, allowed: string): Rule {
  return {
    title,
    file,
    category: IMPORTS,
    breaks: `export * from '${forbidden}'\n`,
    keeps: `export * from '${allowed}'\n`,
  }
}

/** All that there are, so that a new one needs a rule. */
const kernelParts = readdirSync(join(root, 'kernel'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'decisions')
  .map(({ name }) => name)

const rules: readonly Rule[] = [
  importRule('plugin: no other kernel part', 'kernel/plugin/a.ts', '../config/a.ts', './json.ts'),
  importRule('plugin: no unlisted library', 'kernel/plugin/a.ts', 'yaml', '@sinclair/typebox'),
  importRule('plugin: no detour', 'kernel/plugin/a.ts', './../config/a.ts', './json.ts'),
  importRule(
    'plugin: entries from inside',
    'kernel/plugin/entries/a.ts',
    '../../wire/a.ts',
    '../a.ts',
  ),
  importRule('routing: no lifecycle', 'kernel/routing/a.ts', '../lifecycle/a.ts', '../plugin/a.ts'),
  importRule('routing: no I/O', 'kernel/routing/a.ts', 'node:fs', './plan.ts'),
  importRule(
    'routing: not by the package name',
    'kernel/routing/a.ts',
    'model-gateway/plugin',
    './a.ts',
  ),
  importRule('wire: no routing', 'kernel/wire/a.ts', '../routing/a.ts', '../plugin/a.ts'),
  importRule('wire: no library', 'kernel/wire/a.ts', 'postgres', './sse.ts'),
  {
    title: 'routing: no clock, no fetch',
    file: 'kernel/routing/a.ts',
    category: GLOBALS,
    breaks: "export const reply = fetch('http://localhost/')\n",
    keeps: 'export const half = Math.round(0.5)\n',
  },
  {
    title: 'wire: no Bun',
    file: 'kernel/wire/a.ts',
    category: GLOBALS,
    breaks: 'export const version = Bun.version\n',
    keeps: "export const text = JSON.stringify({ a: 'b' })\n",
  },
  {
    title: 'wire: no process',
    file: 'kernel/wire/a.ts',
    category: GLOBALS,
    breaks: 'export const home = process.env.HOME\n',
    keeps: 'export const list = Object.keys({})\n',
  },
  importRule('lifecycle: no http', 'kernel/lifecycle/a.ts', '../http/a.ts', '../wire/a.ts'),
  importRule(
    'lifecycle: no storage',
    'kernel/lifecycle/a.ts',
    '../storage/a.ts',
    '../routing/a.ts',
  ),
  importRule('lifecycle: no config', 'kernel/lifecycle/a.ts', '../config/a.ts', '../wire/a.ts'),
  importRule('lifecycle: no boot', 'kernel/lifecycle/a.ts', '../boot/a.ts', '../plugin/a.ts'),
  importRule(
    'lifecycle: of the registry only containment',
    'kernel/lifecycle/a.ts',
    '../registry/load.ts',
    '../registry/contain.ts',
  ),
  importRule('lifecycle: no Elysia', 'kernel/lifecycle/a.ts', 'elysia', 'node:util'),
  importRule('lifecycle: no SQL', 'kernel/lifecycle/a.ts', 'postgres', 'pino'),
  importRule('http: no registry', 'kernel/http/a.ts', '../registry/a.ts', '../lifecycle/a.ts'),
  importRule('http: no routing', 'kernel/http/a.ts', '../routing/a.ts', '../wire/a.ts'),
  importRule('http: no SQL', 'kernel/http/a.ts', 'drizzle-orm/pg-core', 'elysia'),
  importRule('config: no lifecycle', 'kernel/config/a.ts', '../lifecycle/a.ts', '../plugin/a.ts'),
  importRule('registry: no boot', 'kernel/registry/a.ts', '../boot/a.ts', '../storage/a.ts'),
  importRule('registry: no SQL', 'kernel/registry/a.ts', 'drizzle-orm', '../config/a.ts'),
  importRule('egress: no http', 'kernel/egress/a.ts', '../http/a.ts', '../plugin/a.ts'),
  importRule('storage: no Elysia', 'kernel/storage/a.ts', 'elysia', 'postgres'),
  importRule('boot: no Elysia', 'kernel/boot/a.ts', '@elysiajs/swagger', '../http/a.ts'),
  importRule('boot: no SQL', 'kernel/boot/a.ts', 'postgres', '../storage/a.ts'),
  ...kernelParts.flatMap((part) =>
    ['plugins/identity', 'providers/simulator', 'guardrail-packs/core-git', 'test/harness'].map(
      (outside) =>
        importRule(
          `${part}: never ${outside.split('/')[0]}`,
          `kernel/${part}/a.ts`,
          `../../${outside}/index.ts`,
          './b.ts',
        ),
    ),
  ),
  importRule(
    'plugins: no kernel by path',
    'plugins/identity/a.ts',
    '../../kernel/plugin/index.ts',
    'model-gateway/plugin',
  ),
  importRule(
    'plugins: contracts give out the part of the kernel that is theirs',
    'plugins/guardrails/contract.ts',
    '../../kernel/config/a.ts',
    '../../kernel/plugin/guardrail.ts',
  ),
  importRule('plugins: no other plugin', 'plugins/identity/a.ts', '../accounting/a.ts', './b.ts'),
  ...[
    'plugins/identity/a.ts',
    'plugins/identity/store.ts',
    'plugins/identity/admin.ts',
    'plugins/checks/cloud-b-guardrail/a.ts',
    'plugins/standard/a.ts',
    'providers/simulator/a.ts',
    'guardrail-packs/core-git/a.ts',
    'examples/provider-brook/a.ts',
  ].map((file) =>
    importRule(
      `${file}: the wire library by its name`,
      file,
      'model-gateway/kernel/wire/index.ts',
      'model-gateway/wire',
    ),
  ),
  importRule(
    'plugins: no test kit',
    'plugins/identity/a.ts',
    'model-gateway/testing',
    '../_shared/a.ts',
  ),
  importRule(
    'plugins: no provider',
    'plugins/identity/a.ts',
    '../../providers/simulator/index.ts',
    '../../migrations/identity/0001_start.sql',
  ),
  importRule('plugins: SQL only in two files', 'plugins/identity/a.ts', 'drizzle-orm', 'yaml'),
  importRule(
    'plugins: no Elysia in tables.ts',
    'plugins/identity/tables.ts',
    'elysia',
    'drizzle-orm/pg-core',
  ),
  importRule('plugins: no Elysia in store.ts', 'plugins/identity/store.ts', 'elysia', 'postgres'),
  importRule('plugins: no SQL in docs.ts', 'plugins/identity/docs.ts', 'postgres', 'elysia'),
  importRule(
    'plugins: no kernel in store.ts',
    'plugins/identity/store.ts',
    '../../kernel/storage/a.ts',
    './a.ts',
  ),
  importRule(
    'checks: of the providers only signing',
    'plugins/checks/cloud-b-guardrail/a.ts',
    '../../../providers/_shared/google-auth.ts',
    '../../../providers/_shared/aws-signing.ts',
  ),
  importRule(
    'checks: no other check',
    'plugins/checks/cloud-b-guardrail/a.ts',
    '../cloud-a-sanitizer/a.ts',
    '../_shared/a.ts',
  ),
  importRule('checks: no SQL', 'plugins/checks/cloud-b-guardrail/a.ts', 'postgres', './b.ts'),
  importRule(
    'console: its app keeps to its own folder',
    'plugins/console/app/a.ts',
    '../assets.ts',
    '@/lib/cx.ts',
  ),
  importRule('console: its app is for browsers', 'plugins/console/app/a.ts', 'node:fs', 'react'),
  importRule(
    'standard: of the kernel only boot and config',
    'plugins/standard/a.ts',
    '../../kernel/registry/load.ts',
    '../../kernel/boot/start.ts',
  ),
  importRule('standard: no Elysia', 'plugins/standard/a.ts', 'elysia', '../identity/index.ts'),
  importRule(
    'providers: no kernel by path',
    'providers/simulator/a.ts',
    '../../kernel/wire/sse.ts',
    'model-gateway/plugin',
  ),
  importRule(
    'providers: no other provider',
    'providers/simulator/a.ts',
    '../compat/a.ts',
    '../_shared/a.ts',
  ),
  importRule(
    'providers: no test kit',
    'providers/simulator/a.ts',
    'model-gateway/testing',
    'model-gateway/wire',
  ),
  importRule(
    'providers: no plugin',
    'providers/simulator/a.ts',
    '../../plugins/_shared/safe-text.ts',
    '../_shared/a.ts',
  ),
  importRule('providers: no SQL', 'providers/simulator/store.ts', 'postgres', './b.ts'),
  importRule('providers: no Elysia', 'providers/simulator/admin.ts', 'elysia', './b.ts'),
  importRule(
    'packs: no other pack',
    'guardrail-packs/core-git/a.ts',
    '../core-shell/a.ts',
    './b.ts',
  ),
  importRule(
    'packs: no kernel by path',
    'guardrail-packs/core-git/a.ts',
    '../../kernel/wire/json-text.ts',
    'model-gateway/plugin',
  ),
  importRule(
    'plugins: no pack',
    'plugins/identity/a.ts',
    '../../guardrail-packs/core-git/index.ts',
    '../_shared/a.ts',
  ),
  importRule(
    'packs: no plugin',
    'guardrail-packs/core-git/a.ts',
    '../../plugins/a/a.ts',
    '../_shared/a.ts',
  ),
  importRule(
    'examples: nothing of the repository by path',
    'examples/provider-brook/a.ts',
    '../../kernel/plugin/index.ts',
    'model-gateway/plugin',
  ),
  importRule(
    'examples: no other example',
    'examples/provider-brook/a.ts',
    '../sink-sqlite/src/index.ts',
    './src/index.ts',
  ),
  importRule(
    'examples: no library of the gateway',
    'examples/provider-brook/a.ts',
    'drizzle-orm',
    'bun:sqlite',
  ),
  {
    title: 'dynamic imports obey as well',
    file: 'kernel/http/a.ts',
    category: IMPORTS,
    breaks: "export const part = await import('../config/a.ts')\n",
    keeps: "export const part = await import('../plugin/a.ts')\n",
  },
  {
    title: 'type imports obey as well',
    file: 'providers/simulator/a.ts',
    category: IMPORTS,
    breaks: "export type { A } from '../../kernel/http/a.ts'\n",
    keeps: "export type { A } from './b.ts'\n",
  },
  {
    title: 'require is no way round',
    file: 'kernel/http/a.ts',
    category: 'lint/style/noCommonJs',
    breaks: "export const part = require('../config/a.ts')\n",
    keeps: "import part from './b.ts'\n\nexport default part\n",
  },
  {
    title: 'endings are written out',
    file: 'kernel/http/a.ts',
    category: 'lint/correctness/useImportExtensions',
    breaks: "export * from './sibling'\n",
    keeps: "export * from './sibling.ts'\n",
  },
  {
    title: 'no any',
    file: 'kernel/http/a.ts',
    category: 'lint/suspicious/noExplicitAny',
    breaks: 'export const value: any = 1\n',
    keeps: 'export const value: unknown = 1\n',
  },
  {
    title: 'no promise is left floating',
    file: 'kernel/http/a.ts',
    category: 'lint/nursery/noFloatingPromises',
    breaks:
      'async function work(): Promise<void> {}\n\nexport function go(): void {\n  work()\n}\n',
    keeps:
      'async function work(): Promise<void> {}\n\nexport async function go(): Promise<void> {\n  await work()\n}\n',
  },
]

const CONSOLE = 'plugins/console/app/pages'
const cycleFolders = [
  'kernel/lifecycle',
  'plugins/identity',
  CONSOLE,
  'providers/simulator',
  'guardrail-packs/core-git',
  'test/harness',
  'bench',
  'examples/provider-brook',
]

/** The file of rule `n` in the sandbox; names that rules match on stay the last part of the path. */
function place(rule: Rule, n: number, side: 'breaks' | 'keeps'): string {
  const parts = rule.file.split('/')
  const name = parts.pop() ?? ''
  return name === 'a.ts'
    ? join(...parts, `rule-${n}-${side}.ts`)
    : join(parts[0] ?? '', `${parts[1]}-${n}-${side}`, name)
}

describe('the house rules of biome.json', () => {
  const sandbox = mkdtempSync(join(tmpdir(), 'house-'))
  const found = new Map<string, string[]>()

  beforeAll(() => {
    const write = (path: string, text: string): void => {
      mkdirSync(dirname(join(sandbox, path)), { recursive: true })
      writeFileSync(join(sandbox, path), text)
    }
    for (const file of ['biome.json', 'tsconfig.json', 'package.json']) {
      cpSync(join(root, file), join(sandbox, file))
    }
    write('kernel/http/sibling.ts', 'export const sibling = 1\n')
    rules.forEach((rule, n) => {
      write(place(rule, n, 'breaks'), rule.breaks)
      write(place(rule, n, 'keeps'), rule.keeps)
    })
    for (const folder of cycleFolders) {
      const at = folder === CONSOLE ? '@/pages' : '.'
      write(`${folder}/cycle-a.ts`, `import { b } from '${at}/cycle-b.ts'\n\nexport const a = b\n`)
      write(`${folder}/cycle-b.ts`, `import { a } from '${at}/cycle-a.ts'\n\nexport const b = a\n`)
      write(
        `${folder}/types-a.ts`,
        `import type { B } from '${at}/types-b.ts'\n\nexport type A = B[]\n`,
      )
      write(
        `${folder}/types-b.ts`,
        `import type { A } from '${at}/types-a.ts'\n\nexport type B = A | string\n`,
      )
    }
    write('kernel/routing/exempt.test.ts', "export * from '../../test/harness/a.ts'\n")
    const run = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules/@biomejs/biome/bin/biome'),
        'lint',
        '--vcs-enabled=false',
        '--reporter=json',
        '--max-diagnostics=none',
        '.',
      ],
      { cwd: sandbox, encoding: 'utf8' },
    )
    const report = JSON.parse(run.stdout) as {
      diagnostics: { category: string; location: { path: string } }[]
    }
    for (const { category, location } of report.diagnostics) {
      const path = location.path.replace(/^\.\//, '')
      found.set(path, [...(found.get(path) ?? []), category])
    }
  })
  afterAll(() => rmSync(sandbox, { recursive: true, force: true }))

  rules.forEach((rule, n) => {
    test(rule.title, () => {
      expect(found.get(place(rule, n, 'breaks')) ?? []).toContain(rule.category)
      expect(found.get(place(rule, n, 'keeps')) ?? []).toEqual([])
    })
  })

  test.each(cycleFolders)('%s: no imports in a cycle, unless all are of types', (folder) => {
    const cycle = 'lint/suspicious/noImportCycles'
    expect(found.get(`${folder}/cycle-a.ts`) ?? []).toContain(cycle)
    expect(found.get(`${folder}/cycle-b.ts`) ?? []).toContain(cycle)
    expect(found.get(`${folder}/types-a.ts`) ?? []).toEqual([])
    expect(found.get(`${folder}/types-b.ts`) ?? []).toEqual([])
  })

  test('tests may reach the harness', () => {
    expect(found.get('kernel/routing/exempt.test.ts') ?? []).toEqual([])
  })
})
