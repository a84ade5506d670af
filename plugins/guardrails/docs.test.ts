import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readConfig } from '../../kernel/boot/read-config.ts'
import { adminClient, adminPassword } from '../../test/harness/admin.ts'
import { adaKey, startTestGateway } from '../../test/harness/gateway.ts'
import { builtins } from '../standard/builtins.ts'
import { guardCommand } from './guard-command-spec.ts'
import { agents } from './hook-agents.ts'

const MAIN = new URL('../standard/main.ts', import.meta.url).pathname
const page = readFileSync(new URL('../../docs/guardrails.md', import.meta.url), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, text]) => text as string,
  )

test('the config of the page is one', async () => {
  const [guardrails = ''] = blocks('yaml')
  const text = `${guardrails}
mcp: { servers: [{ server_key: notes, display_name: Notes, server_url: 'https://notes.example.com' }] }
providers: [{ id: openai, type: simulator }]
models: [{ id: fast, routes: [{ provider: openai, upstream_model: gpt-4.1-mini }] }]
`
  const { problems, loaded } = await readConfig({ text, file: 'gateway.yaml' }, builtins, {})
  expect(problems).toEqual([])
  expect(loaded).toBeDefined()
})

test('each agent is named with its files, and each option of the hook', () => {
  for (const { name, file } of agents) {
    expect(page).toContain(`| \`${name}\``)
    expect(page).toContain(`| \`${file('project', '', '', {})}\` `)
    const inHome = dirname(file('user', '', '~', {}))
    expect(page).toContain(`\`${inHome}/`)
  }
  for (const [option] of (guardCommand.usage ?? '').matchAll(/--[a-z-]+/g)) {
    expect(page).toContain(`\`${option}\``)
  }
})

test('the commands of the page work as they are written', async () => {
  const gateway = await startTestGateway({
    providers: [{ id: 's', type: 'simulator' }],
    models: [{ id: 'm', routes: [{ provider: 's', upstream_model: 'u' }] }],
    guardrails: {
      default: { enabled: true, mode: 'deny', packs: ['core.git', 'core.filesystem'] },
    },
  })
  const folder = mkdtempSync(join(tmpdir(), 'guardrails-docs-'))
  try {
    const { email } = await adminClient(gateway)
    const login = JSON.stringify({ email, password: adminPassword })
    const own = `
set -euo pipefail
GATEWAY=${gateway.url}
gateway() { ${process.execPath} ${MAIN} "$@"; }
call() { curl -sS --fail-with-body -b cookies -H "origin: $GATEWAY" -H 'content-type: application/json' "$@"; }
call -c cookies -d '${login}' "$GATEWAY/api/v1/auth/login" >/dev/null
`
    const commands = blocks('sh')
      .join('\n')
      .replace('http://127.0.0.1:8080', gateway.url)
      .replace('gwk_…', adaKey)
    const child = Bun.spawn(['bash', '-c', own + commands], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const out = await new Response(child.stdout).text()
    expect(await new Response(child.stderr).text()).toBe('')
    expect(await child.exited).toBe(0)
    expect(out).toContain('"scope":"global"')
    expect(out).toContain('"executable":"rm"')
    expect(out).toContain('"permissionDecision":"deny"')
    expect(out).toContain('"pack_id":"core.git"')
    expect(out).toContain('a forbidden command is blocked: git reset --hard')
  } finally {
    await gateway.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 30_000)
