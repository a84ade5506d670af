import { afterAll, describe, expect, test } from 'bun:test'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { NodeSha256 } from '../../test/harness/node-sha256.ts'
import { signedScope } from '../../test/harness/upstream-clouds-aws.ts'
import suite from './__fixtures__/aws/sigv4-suite.json'
import { createAwsSigner, signAws, withoutCredentials } from './aws-signing.ts'

const { accessKeyId, secretAccessKey, region, service } = suite

/** These two sign a path before it was encoded for the wire; a URL has only the encoded one. */
const UNENCODED = ['get-utf8', 'get-space']

/** A request of the suite: headers may be repeated and folded. */
function parse(text: string) {
  const [head = '', body = ''] = text.split(/\n\n(.*)/s)
  const [line = '', ...lines] = head.split('\n')
  const match = /^(\S+) (.*) HTTP\/1\.1$/.exec(line)
  const headers = new Map<string, string[]>()
  let last: string[] = []
  for (const entry of lines) {
    if (/^\s/.test(entry)) {
      last.push(entry.trim())
      continue
    }
    const [name = '', value = ''] = entry.split(/:(.*)/s)
    last = headers.get(name.toLowerCase()) ?? []
    headers.set(name.toLowerCase(), last)
    last.push(value.trim())
  }
  const get = (name: string) => headers.get(name)?.join(',')
  const sessionToken = get('x-amz-security-token')
  const host = get('host') ?? ''
  for (const name of ['host', 'x-amz-date', 'x-amz-security-token']) headers.delete(name)
  return {
    request: {
      method: match?.[1] ?? '',
      url: `https://${host}${match?.[2]}`,
      headers: Object.fromEntries([...headers].map(([name, values]) => [name, values.join(',')])),
      body,
    },
    credentials: {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
  }
}

describe("Amazon's public suite", () => {
  const cases = suite.cases.filter(({ name }) => !UNENCODED.includes(name))
  test.each(cases.map(({ name, ...rest }) => [name, rest] as const))('%s', (_, vector) => {
    const { request, credentials } = parse(vector.request)
    const at = new Date(suite.date)
    const signed = signAws(request, { region, service }, credentials, at)
    expect(signed.authorization).toBe(vector.authorization.trim())
    expect(signed['x-amz-date']).toBe('20150830T123600Z')
  })

  test('is complete, except two cases that a URL cannot express', () => {
    expect(cases).toHaveLength(30)
  })
})

describe('the vendor’s own signer', () => {
  const segment = fc.oneof(
    fc.string({ minLength: 1, maxLength: 30 }),
    fc.constantFrom(
      'us.anthropic.claude-opus-4-7-v1:0',
      'a model',
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-7',
    ),
  )

  test('agrees on every path, body, header and set of credentials', async () => {
    await fc.assert(
      fc.asyncProperty(
        segment.filter((id) => id !== '.' && id !== '..'),
        fc.boolean(),
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.option(fc.stringMatching(/^[A-Za-z0-9+/=]{10,60}$/), { nil: undefined }),
        fc.constantFrom('bedrock', 'bedrock-mantle'),
        fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
        async (id, literal, body, sessionToken, service, at) => {
          const encoded = encodeURIComponent(id)
          const path = literal ? encoded.replaceAll('%3A', ':').replaceAll('%2F', '/') : encoded
          const url = new URL(
            `https://bedrock-runtime.eu-west-1.amazonaws.com/model/${path}/converse`,
          )
          const credentials = {
            accessKeyId: 'AKIDEXAMPLE',
            secretAccessKey: 'secret',
            ...(sessionToken === undefined ? {} : { sessionToken }),
          }
          const headers = { 'x-amz-thing': 'some  value' }
          const scope = { region: 'eu-west-1', service }
          const request = { method: 'POST', url: url.href, headers, body }
          const ours = signAws(request, scope, credentials, at)
          const oracle = new SignatureV4({
            ...scope,
            credentials,
            sha256: NodeSha256 as never,
            applyChecksum: false,
          })
          const theirs = await oracle.sign(
            {
              method: 'POST',
              protocol: 'https:',
              hostname: url.hostname,
              path: url.pathname,
              query: {},
              headers: { ...headers, host: url.host },
              body,
            },
            { signingDate: at },
          )
          expect(ours.authorization).toBe(theirs.headers.authorization)
          expect(ours['x-amz-date']).toBe(theirs.headers['x-amz-date'])
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('an upstream that verifies', () => {
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'open sesame', sessionToken: 'tok' }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { method, headers } = request
      const path = new URL(request.url).pathname
      const rawBody = await request.text()
      const arrived = { method, path, headers: Object.fromEntries(headers), rawBody }
      const scope = signedScope(arrived, credentials)
      return new Response(null, { status: scope?.service === 'bedrock' ? 200 : 403 })
    },
  })
  afterAll(() => server.stop(true))

  const source = { get: () => credentials, refused() {} }
  const scope = { region: 'us-east-1', service: 'bedrock' }
  const signer = createAwsSigner(scope, source, () => new Date())

  async function send(change: (sent: { url: string; init: RequestInit }) => void = () => {}) {
    const url = `http://127.0.0.1:${server.port}/model/us.anthropic.claude-opus-4-7-v1%3A0/converse`
    const headers = { 'content-type': 'application/json', 'x-amz-trace': 'a', accept: '*/*' }
    const body = '{"messages":[{"role":"user","content":[{"text":"größer"}]}]}'
    const signed = await signer.credentials({ url, headers, body })
    const sent = { url, init: { method: 'POST', headers: { ...headers, ...signed }, body } }
    change(sent)
    return (await fetch(sent.url, sent.init)).status
  }

  test('accepts signed requests, also with headers added by proxies', async () => {
    expect(await send()).toBe(200)
    expect(
      await send(({ init }) => {
        init.headers = { ...(init.headers as object), 'x-request-id': 'r', traceparent: '00-a' }
      }),
    ).toBe(200)
  })

  test.each<[string, (sent: { url: string; init: RequestInit }) => void]>([
    ['body', ({ init }) => (init.body = `${init.body} `)],
    ['path', (sent) => (sent.url = sent.url.replace('opus', 'haiku'))],
    [
      'date',
      ({ init }) => Object.assign(init.headers as object, { 'x-amz-date': '20200101T000000Z' }),
    ],
    [
      'session token',
      ({ init }) => Object.assign(init.headers as object, { 'x-amz-security-token': 'x' }),
    ],
    ['signed header', ({ init }) => Object.assign(init.headers as object, { 'x-amz-trace': 'b' })],
  ])('refuses a changed %s', async (_, change) => {
    expect(await send(change)).toBe(403)
  })
})

describe('the key that signs', () => {
  const set = (secretAccessKey: string) => ({ accessKeyId: 'AK', secretAccessKey })
  const request = { url: 'https://h/model/m/converse', headers: {}, body: '{}' }
  const scope = { region: 'us-east-1', service: 'bedrock' }
  const signature = (signed: object) => (signed as { authorization: string }).authorization
  let at = new Date('2026-11-21T23:59:59Z')
  let credentials = set('first')
  const source = { get: () => credentials, refused() {} }
  const signer = createAwsSigner(scope, source, () => at)

  async function expectFresh() {
    const signed = await signer.credentials(request)
    const alone = signAws({ method: 'POST', ...request }, scope, credentials, at)
    expect(signature(signed)).toBe(signature(alone))
  }

  test('differs per day and per set of credentials', async () => {
    await expectFresh()
    at = new Date('2026-11-22T00:00:00Z')
    await expectFresh()
    credentials = set('second')
    await expectFresh()
  })
})

test('a refusal is reported for the credentials that signed', async () => {
  const sets = [1, 2].map((n) => ({ accessKeyId: `AK${n}`, secretAccessKey: 's' }))
  const refused: unknown[] = []
  let next = 0
  const source = {
    get: () => sets[next] as (typeof sets)[number],
    refused: (credentials: unknown) => void refused.push(credentials),
  }
  const signer = createAwsSigner({ region: 'r', service: 's' }, source, () => new Date())
  const request = { url: 'http://h/', headers: {}, body: '' }
  const first = await signer.credentials(request)
  next = 1
  await signer.credentials(request)
  signer.refused(first)
  signer.refused({})
  expect(refused).toEqual([sets[0]])
})

test('configured authentication headers are removed', () => {
  const headers = {
    authorization: 'a',
    'x-api-key': 'b',
    'x-amz-date': 'c',
    'x-amz-security-token': 'd',
    'x-amz-other': 'e',
    accept: 'f',
  }
  expect(withoutCredentials(headers)).toEqual({ 'x-amz-other': 'e', accept: 'f' })
})
