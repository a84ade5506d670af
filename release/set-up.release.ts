/** `npm test`, then `npm start`, in a checkout on a machine that has only Node and npm. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ended } from '../test/harness/ended.ts'

const ROOT = join(import.meta.dir, '..')

let home: string
let checkout: string
let env: Record<string, string>

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'gateway-set-up-'))
  // As root, Postgres runs under another account, which needs to enter this folder.
  chmodSync(home, 0o711)
  checkout = join(home, 'model-gateway')
  const listed = Bun.spawnSync(['git', 'ls-files', '-z'], { cwd: ROOT }).stdout.toString()
  for (const file of listed.split('\0')) {
    if (file === '' || !existsSync(join(ROOT, file))) continue
    mkdirSync(dirname(join(checkout, file)), { recursive: true })
    copyFileSync(join(ROOT, file), join(checkout, file))
  }
  const bin = join(home, 'bin')
  mkdirSync(bin)
  for (const name of ['node', 'npm', 'npx']) {
    symlinkSync(realpathSync(Bun.which(name) as string), join(bin, name))
  }
  // The home folder is shared, so that npm and Bun use their caches.
  env = { PATH: `${bin}:/usr/bin:/bin`, HOME: process.env.HOME ?? home }
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

function npm(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  return Bun.spawn(['npm', ...args], {
    cwd: checkout,
    env: { ...env, ...more },
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

test('npm test installs Bun and the dependencies, and has the exit code of the tests', async () => {
  expect(Bun.which('bun', { PATH: env.PATH as string })).toBeNull()
  const first = await ended(npm(['test', '--', 'kernel/plugin/secret.test.ts']))
  expect(first.out).toContain('set-up: installing Bun 1.4.5')
  expect(first.out).toContain('set-up: installing the packages of bun.lock')
  expect(first.out + first.err).toMatch(/^ \d+ pass\n 0 fail$/m)
  expect(first.code).toBe(0)
  const second = await ended(npm(['test', '--', 'no/such/file.test.ts']))
  expect(second.out).not.toContain('set-up:')
  expect(second.code).not.toBe(0)
  expect(existsSync(join(checkout, 'package-lock.json'))).toBe(false)
}, 120_000)

test('npm start serves the demo, and ends when npm ends', async () => {
  const child = npm(['start'], { GATEWAY_BIND: '127.0.0.1:0' })
  let out = ''
  for await (const chunk of child.stdout) {
    out += new TextDecoder().decode(chunk)
    if (/^Console/m.test(out)) break
  }
  expect(out).toContain('no provider key in the environment')
  const line = out.split('\n').find((each) => each.startsWith('curl ')) as string
  const reply = await new Response(
    Bun.spawn(['sh', '-c', line], { stderr: 'ignore' }).stdout,
  ).json()
  expect(reply).toMatchObject({ model: 'demo' })
  child.kill('SIGTERM')
  expect(await new Response(child.stderr).text()).toContain('"shutting down"')
  expect(await child.exited).toBe(0)
}, 60_000)
