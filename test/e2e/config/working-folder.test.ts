import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createHostileFolder,
  guard,
  type HostileFolder,
  hook,
  hostileFiles,
} from '../../harness/hostile-folder.ts'

const ROOT = join(import.meta.dir, '../../..')
const MAIN = join(ROOT, 'plugins/standard/main.ts')
const BUN = process.execPath

let folder: HostileFolder
let elsewhere: string
beforeAll(() => {
  folder = createHostileFolder()
  elsewhere = mkdtempSync(join(tmpdir(), 'gateway-elsewhere-'))
  // The project, as far as `bun run` looks at it.
  cpSync(join(ROOT, 'package.json'), join(folder.path, 'package.json'))
  symlinkSync(join(ROOT, 'plugins'), join(folder.path, 'plugins'))
})
afterAll(() => {
  folder.remove()
  rmSync(elsewhere, { recursive: true, force: true })
})

test('every file of the hostile folder is obeyed by a program that Bun starts there as it is', async () => {
  const program = join(elsewhere, 'program.ts')
  writeFileSync(program, 'if (process.env.GATEWAY_URL) await fetch(process.env.GATEWAY_URL)\n')
  expect(await folder.obeyed([BUN, program])).toEqual(hostileFiles)
}, 20_000)

test.each([
  ['its file', [MAIN]],
  ['`bun run gateway`', [BUN, 'run', 'gateway']],
])(
  'started by %s, the guard obeys no file of the folder that it guards',
  async (_, start) => {
    expect(await folder.obeyed(start)).toEqual([])
  },
  20_000,
)

test.each([
  ['its file', [MAIN]],
  ['`bun run gateway`', [BUN, 'run', 'gateway']],
])(
  'nor, started by %s, do other commands',
  async (_, start) => {
    const checked = await folder.run([...start, 'check-config'])
    expect(checked.out).toContain('quick start config is valid')
    const served = await folder.run([...start, 'serve', '--data-dir', '/dev/null/data'])
    expect(served.err).toContain('the data directory /dev/null/data')
    expect((await folder.run([...start, 'plugin', 'new', 'nothing'])).code).toBe(2)
    expect(folder.wasObeyed()).toBe(false)
  },
  20_000,
)

test('what Bun has read before it starts main.ts goes: the guard is asked where its user says', async () => {
  const asked: (string | null)[] = []
  const gateway = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ headers }) {
      asked.push(headers.get('authorization'))
      const denial = { hookEventName: 'PreToolUse', permissionDecision: 'deny' }
      return Response.json({ hookSpecificOutput: { ...denial, permissionDecisionReason: 'no' } })
    },
  })
  folder.place(hostileFiles.filter((file) => file.startsWith('.env')))
  const env = { GATEWAY_URL: gateway.url.origin, GATEWAY_API_KEY: 'gwk_ada' }
  const away = await folder.run([BUN, MAIN, ...guard], { GATEWAY_API_KEY: 'gwk_ada' }, hook)
  expect(away.out).toContain('denied by core.git')
  const there = await folder.run([BUN, MAIN, ...guard], env, hook)
  await gateway.stop(true)
  expect(there.out).toContain('"permissionDecisionReason":"no"')
  expect(asked).toEqual(['Bearer gwk_ada'])
  expect(folder.wasObeyed()).toBe(false)
}, 20_000)
