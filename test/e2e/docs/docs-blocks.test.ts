import { afterAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readConfig } from '../../../kernel/boot/read-config.ts'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { type Block, docsBlocks } from '../../harness/docs-page.ts'
import { startGoogleCloud } from '../../harness/upstream-clouds-google.ts'

const ROOT = join(import.meta.dir, '../../..')

/** Which test runs the blocks of a page that are in a language, and how many they are. */
const claims: Readonly<Record<string, readonly [blocks: number, by: string]>> = {
  'README.md sh': [4, 'test/e2e/docs/readme.test.ts'],
  'README.md ts': [1, 'test/e2e/docs/readme.test.ts'],
  'docs/admin.md sh': [11, 'test/e2e/admin/admin-docs.test.ts'],
  'docs/batches.md ts': [1, 'test/e2e/providers/provider-resources.test.ts'],
  'docs/clients.md sh': [7, 'test/agents/page.ts'],
  'docs/clients.md ts': [2, 'test/browser/connect.browser.ts'],
  'docs/managed-config.md sh': [4, 'test/e2e/config/managed-config.test.ts'],
  'docs/guardrails.md yaml': [1, 'plugins/guardrails/docs.test.ts'],
  'docs/guardrails.md sh': [4, 'plugins/guardrails/docs.test.ts'],
  'docs/mcp.md sh': [9, 'test/e2e/mcp/mcp-docs.test.ts'],
  'docs/mcp.md ts': [1, 'test/e2e/mcp/mcp-docs.test.ts'],
  'docs/messages.md json': [2, 'test/e2e/messages/messages-guide.test.ts'],
  'docs/messages.md sh': [3, 'test/e2e/messages/messages-guide.test.ts'],
  'docs/messages.md ts': [1, 'test/e2e/messages/messages-guide.test.ts'],
  'docs/inspecting.md sh': [3, 'test/e2e/cli/inspect.test.ts'],
  'docs/invoices.md sh': [2, 'test/e2e/money/reconcile.test.ts'],
  'docs/operations.md sh': [5, 'release/release.test.ts'],
  'docs/operations.md sql': [1, 'test/e2e/docs/readme.test.ts'],
  'docs/plugins.md ts': [4, 'test/e2e/plugins/external-plugin.test.ts'],
  'docs/plugins.md yaml': [3, 'test/e2e/plugins/external-plugin.test.ts'],
  'docs/tutorials/claude-code.md sh': [4, 'test/agents/claude.agents.ts'],
  'docs/tutorials/first-plugin.md sh': [6, 'plugins/plugin-kit/scaffold.test.ts'],
  'docs/tutorials/guardrail-for-agents.md sh': [6, 'test/e2e/docs/tutorials.test.ts'],
  'docs/tutorials/team-budgets.md sh': [8, 'test/e2e/docs/tutorials.test.ts'],
}

const kindOf = ({ page, language }: Block) => `${page} ${language}`

/** Blocks that nothing runs: neither a test that claims them nor, as configs, this one. */
function unclaimed(blocks: readonly Block[]): string[] {
  const counts = new Map<string, number>()
  for (const block of blocks) counts.set(kindOf(block), (counts.get(kindOf(block)) ?? 0) + 1)
  return [...counts]
    .filter(([kind, count]) => claims[kind]?.[0] !== count)
    .filter(([kind]) => kind in claims || !kind.endsWith(' yaml'))
    .map(([kind, count]) => `${count} × ${kind}`)
}

test('a test runs every block of the pages', () => {
  const blocks = docsBlocks()
  expect(unclaimed(blocks)).toEqual([])
  // One more, or one of another kind, is seen.
  const more = (language: string) => [...blocks, { page: 'README.md', language, text: '' }]
  expect(unclaimed(more('sh'))).toEqual(['5 × README.md sh'])
  expect(unclaimed(more('py'))).toEqual(['1 × README.md py'])
})

test('the tests that claim blocks read those pages, and nothing is claimed in vain', () => {
  const kinds = new Set(docsBlocks().map(kindOf))
  for (const [kind, [, by]] of Object.entries(claims)) {
    expect(kinds).toContain(kind)
    expect(existsSync(join(ROOT, by))).toBe(true)
    expect(readFileSync(join(ROOT, by), 'utf8')).toContain(basename(kind.split(' ')[0] as string))
  }
})

const google = startGoogleCloud()
afterAll(() => google.stop())
const configs = docsBlocks().filter(
  (block) => block.language === 'yaml' && !(kindOf(block) in claims),
)

test.each(configs.map((block, at) => [block.page, at, block.text] as const))(
  'the config of %s is one (block %d)',
  async (page, _, text) => {
    const names = [...text.matchAll(/\benv\.(\w+)/g)].map(([, name]) => name as string)
    const env = Object.fromEntries(names.map((name) => [name, 'twelve-letters']))
    const here = text.replace(/\/etc\/gateway\/\S+\.json/, google.serviceAccountFile())
    const { problems } = await readConfig({ text: here, file: join(ROOT, page) }, builtins, env)
    expect(problems.filter(({ severity }) => severity !== 'warning')).toEqual([])
  },
)
