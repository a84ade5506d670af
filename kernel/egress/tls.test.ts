import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string
/** `fallback.test` for every name that it has no certificate for. */
let server: ReturnType<typeof Bun.serve>
/** With a certificate for its name that nobody signed. */
let selfSigned: ReturnType<typeof Bun.serve>
let connections = 0

/** Makes a key and a certificate, signed by `ca`, or by itself. */
function certify(name: string, subject: string, ca?: string): { key: string; cert: string } {
  const at = (file: string) => join(folder, file)
  const made = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'],
    ...['-nodes', '-days', '2', '-subj', `/CN=${name}`],
    ...['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`), '-addext', subject],
    ...(ca === undefined ? [] : ['-CA', at(`${ca}.pem`), '-CAkey', at(`${ca}.key`)]),
  ])
  if (made.exitCode !== 0) throw new Error(`openssl: ${made.stderr}`)
  const read = (file: string) => readFileSync(at(file), 'utf8')
  return { key: read(`${name}.key`), cert: read(`${name}.pem`) }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'))
  certify('ca', 'keyUsage=critical,keyCertSign')
  const of = (name: string) => certify(name, `subjectAltName=DNS:${name}.test`, 'ca')
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
  selfSigned = start(certify('lonely', 'subjectAltName=DNS:lonely.test'))
})
afterAll(async () => {
  await server.stop(true)
  await selfSigned.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

/** What comes of calling these, by a process that trusts the certificates of `ca`, if any. */
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
  // The certificate for this name comes only to who has asked for it by name.
  expect(await outcomes([`https://named.test:${port}/`], 'ca')).toEqual([`200 named.test:${port}`])
})

test('another name’s certificate is not, not even behind a connection that was good for its own', async () => {
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
  // Nothing was sent to whoever could not prove its name.
  expect(connections - before).toBe(3)
})

test('a certificate that nobody vouches for is not', async () => {
  const before = connections
  const urls = [`https://lonely.test:${selfSigned.port}/`, `https://named.test:${server.port}/`]
  for (const outcome of await outcomes(urls)) {
    expect(outcome).toMatch(/^transport: the connection failed \([A-Z_]+\)$/)
  }
  expect(connections).toBe(before)
})
