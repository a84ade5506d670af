import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certify, MAY_SIGN } from '../../test/harness/certificate.ts'

let folder: string
/** `fallback.test` for names without a certificate. */
let server: ReturnType<typeof Bun.serve>
/** With a certificate for its name that is not signed by a CA. */
let selfSigned: ReturnType<typeof Bun.serve>
let connections = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'))
  certify(folder, 'ca', MAY_SIGN)
  const of = (name: string) => certify(folder, name, `subjectAltName=DNS:${name}.test`, 'ca')
  const start = (tls: Bun.TLSOptions | Bun.TLSOptions[]) =>
    Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls,
      fetch({ headers }) {
        connections++
        return new Response(headers.get('host'))
      },
    })
  server = start([of('fallback'), { serverName: 'named.test', ...of('named') }])
  selfSigned = start(certify(folder, 'lonely', 'subjectAltName=DNS:lonely.test'))
})
afterAll(async () => {
  await server.stop(true)
  await selfSigned.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

/** The outcomes of calls to these, by a process that trusts the certificates of `ca`. */
async function outcomes(urls: readonly string[], ca?: string): Promise<string[]> {
  const fixture = new URL('./tls-calls.fixture.ts', import.meta.url).pathname
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = Bun.spawn([process.execPath, fixture, ...urls], {
    env: ca === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: join(folder, `${ca}.pem`) },
    stdout: 'pipe',
  })
  return JSON.parse(await new Response(child.stdout).text())
}

test('a certificate for the name is taken, at the address that was checked', async () => {
  const { port } = server
  // The certificate for this name is sent only with SNI.
  expect(await outcomes([`https://named.test:${port}/`], 'ca')).toEqual([`200 named.test:${port}`])
})

test('a certificate of another name is not accepted, even after a valid connection to that name', async () => {
  const { port } = server
  const before = connections
  const hosts = [
    'named.test',
    'wrong.test',
    'fallback.test',
    'wrong.test',
    '127.0.0.1',
    'named.test',
  ]
  const refused = 'transport: the connection failed (ERR_TLS_CERT_ALTNAME_INVALID)'
  expect(
    await outcomes(
      hosts.map((host) => `https://${host}:${port}/`),
      'ca',
    ),
  ).toEqual([
    `200 named.test:${port}`,
    refused,
    `200 fallback.test:${port}`,
    refused,
    refused,
    `200 named.test:${port}`,
  ])
  // Nothing was sent to a server without a valid certificate.
  expect(connections - before).toBe(3)
})

test('a certificate without a trusted CA is not accepted', async () => {
  const before = connections
  const urls = [`https://lonely.test:${selfSigned.port}/`, `https://named.test:${server.port}/`]
  for (const outcome of await outcomes(urls)) {
    expect(outcome).toMatch(/^transport: the connection failed \([A-Z_]+\)$/)
  }
  expect(connections).toBe(before)
})
