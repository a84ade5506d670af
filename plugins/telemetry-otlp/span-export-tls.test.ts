import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certify, MAY_SIGN } from '../../test/harness/certificate.ts'
import { exportConnection } from './export-environment.ts'
import { createSpanExport } from './span-export.ts'

let folder: string
/** Requires a client certificate of `ca`, and presents one. */
let collector: ReturnType<typeof Bun.serve>
let batches = 0

const at = (file: string) => join(folder, file)
const read = (file: string) => readFileSync(at(file), 'utf8')

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-otlp-tls-'))
  certify(folder, 'ca', MAY_SIGN)
  certify(folder, 'collector', 'subjectAltName=IP:127.0.0.1', 'ca')
  certify(folder, 'gateway', 'extendedKeyUsage=clientAuth', 'ca')
  collector = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: {
      cert: read('collector.pem'),
      key: read('collector.key'),
      ca: read('ca.pem'),
      requestCert: true,
      rejectUnauthorized: true,
    },
    fetch() {
      batches++
      return new Response('{}')
    },
  })
})
afterAll(async () => {
  await collector.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

async function exportsOne(env: Record<string, string>): Promise<boolean> {
  batches = 0
  const spans = createSpanExport({
    url: `https://127.0.0.1:${collector.port}/v1/traces`,
    headers: {},
    resource: {},
    scope: 'test',
    timeoutMs: 400,
    ...exportConnection(env),
  })
  spans.add('{}')
  await spans.stop()
  return batches === 1
}

test('a collector with a private CA gets spans with the certificates of the environment', async () => {
  const ca = { OTEL_EXPORTER_OTLP_CERTIFICATE: at('ca.pem') }
  const own = {
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: at('gateway.pem'),
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: at('gateway.key'),
  }
  expect(await exportsOne({ ...ca, ...own })).toBe(true)
  expect(await exportsOne(ca)).toBe(false)
  expect(await exportsOne(own)).toBe(false)
})
