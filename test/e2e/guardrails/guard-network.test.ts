import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certify, MAY_SIGN } from '../../harness/certificate.ts'
import { ended } from '../../harness/ended.ts'
import { guard as command, hook, pathWithBun } from '../../harness/hostile-folder.ts'

const MAIN = join(import.meta.dir, '../../../plugins/standard/main.ts')

let folder: string
let PATH: string
/** A gateway that denies everything, with a certificate of a CA that only we know. */
let gateway: ReturnType<typeof Bun.serve>
let proxy: ReturnType<typeof Bun.serve>

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-guard-'))
  PATH = pathWithBun(folder)
  certify(folder, 'ca', MAY_SIGN)
  const tls = certify(folder, 'gateway', 'subjectAltName=DNS:localhost', 'ca')
  const denying = (permissionDecisionReason: string) => () =>
    Response.json({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason,
      },
    })
  const hostname = '127.0.0.1'
  gateway = Bun.serve({ port: 0, hostname, tls, fetch: denying('said the gateway') })
  proxy = Bun.serve({ port: 0, hostname, fetch: denying('said the proxy') })
})
afterAll(async () => {
  await Promise.all([gateway.stop(true), proxy.stop(true)])
  rmSync(folder, { recursive: true, force: true })
})

async function guard(env: Readonly<Record<string, string>>, ...options: string[]) {
  const child = Bun.spawn([MAIN, ...command, ...options], {
    cwd: folder,
    env: { PATH, GATEWAY_API_KEY: 'gwk_x', ...env },
    stdin: new Blob([hook]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return await ended(child)
}

test('no variable tells the guard whom to trust; --ca-file does', async () => {
  const own = { GATEWAY_URL: `https://localhost:${gateway.port}` }
  const ca = join(folder, 'ca.pem')
  for (const trusting of [
    { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
    { NODE_EXTRA_CA_CERTS: ca },
    { SSL_CERT_FILE: ca },
  ]) {
    const { out, err } = await guard({ ...own, ...trusting })
    expect(out).toContain('denied by core.git')
    expect(err).toContain('UNABLE_TO_VERIFY_LEAF_SIGNATURE')
  }
  expect((await guard(own, '--ca-file', ca)).out).toContain('said the gateway')
}, 20_000)

test('no variable sends the guard to a proxy; --proxy does', async () => {
  const proxyUrl = proxy.url.origin
  const own = { GATEWAY_URL: 'http://127.0.0.1:1' }
  for (const name of ['http_proxy', 'HTTP_PROXY', 'ALL_PROXY']) {
    expect((await guard({ ...own, [name]: proxyUrl })).out).toContain('denied by core.git')
  }
  expect((await guard(own, '--proxy', proxyUrl)).out).toContain('said the proxy')
}, 20_000)

test.each([
  [['--ca-file', 'ca.pem'], '--ca-file must be an absolute path, got ca.pem'],
  [['--ca-file', '/gone/ca.pem'], '--ca-file cannot be read: ENOENT'],
  [['--proxy', 'proxy.example:3128'], '--proxy must be a URL such as http://'],
])('%j: the tool is refused', async (options, message) => {
  const { out, err, code } = await guard({}, ...options)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
})
