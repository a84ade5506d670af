import { expect, test } from 'bun:test'
import { connectFailure } from './connect-failure.ts'

const plain = 'postgres://me@db/x'
const verified = `${plain}?sslmode=verify-full`
const failure = (code: string, url: string) => connectFailure({ code, message: 'it failed' }, url)

test.each([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])('hints at NODE_EXTRA_CA_CERTS after %s', (code) => {
  expect(failure(code, verified)).toBe(
    `${code} it failed; start the gateway with NODE_EXTRA_CA_CERTS set to the file with its CA`,
  )
})

test('reports other causes unchanged', () => {
  expect(failure('ECONNRESET', plain)).toBe('ECONNRESET it failed')
  expect(failure('ECONNRESET', `${plain}?sslmode=disable`)).toBe('ECONNRESET it failed')
  expect(failure('ECONNREFUSED', verified)).toBe('ECONNREFUSED it failed')
  expect(failure('ERR_TLS_CERT_ALTNAME_INVALID', verified)).toBe(
    'ERR_TLS_CERT_ALTNAME_INVALID it failed',
  )
  expect(connectFailure(new Error('it failed'), plain)).toBe('it failed')
})
