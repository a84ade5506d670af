/** Credentials that the service refuses are dropped, and the call is not repeated. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { json, providerCall, setUpProvider, startUpstream } from 'model-gateway/testing'
import { converseReply, converseUsage } from '../../test/harness/upstream-clouds-aws.ts'
import plugin from './index.ts'

const before = { ...process.env }
let issued = 0
const container = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () =>
    Response.json({
      AccessKeyId: `AKISSUED${++issued}`,
      SecretAccessKey: 'secret',
      Token: 'token',
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    }),
})
for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
Object.assign(process.env, {
  AWS_CONTAINER_CREDENTIALS_FULL_URI: container.url.href,
  AWS_SHARED_CREDENTIALS_FILE: '/nowhere/credentials',
  AWS_CONFIG_FILE: '/nowhere/config',
})

const upstream = await startUpstream()
const bench = await setUpProvider({
  plugin,
  type: 'cloud_b_ml',
  config: { region: 'us-east-1', endpoint_url: new URL(upstream.url).origin },
})
const route = bench.bind({ compatibility: { cloud_b_ml: { api_style: 'runtime_unified' } } })
const good = json(
  converseReply({
    blocks: [{ kind: 'text', pieces: ['hi'] }],
    stopReason: 'end_turn',
    usage: converseUsage,
  }),
)
const refusal = (type: string) =>
  json({ message: 'No.' }, 403, { 'x-amzn-errortype': `${type}:http://internal.amazon.com/` })

beforeEach(() => {
  upstream.clear()
  upstream.always(good)
})
afterAll(async () => {
  await bench.dispose()
  await upstream.stop()
  container.stop(true)
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
  for (const [name, value] of Object.entries(before)) {
    if (name.startsWith('AWS_')) process.env[name] = value
  }
})

const ask = () =>
  route.execute.chat_completions?.(
    providerCall({ model: 'asked', messages: [{ role: 'user', content: 'hi' }] }),
  )
const keysUsed = () =>
  upstream.journal.calls.map(
    ({ headers }) => /Credential=(\w+)/.exec(headers.authorization ?? '')?.[1],
  )

test('concurrent calls load one set, which is reused', async () => {
  await Promise.all(Array.from({ length: 20 }, ask))
  await ask()
  expect(issued).toBe(1)
  expect(new Set(keysUsed())).toEqual(new Set(['AKISSUED1']))
})

test.each(['ExpiredTokenException', 'UnrecognizedClientException', 'InvalidSignatureException'])(
  '%s: 502, one call, and the next one comes with new credentials',
  async (type) => {
    const used = issued
    upstream.script(refusal(type))
    await expect(ask()).rejects.toMatchObject({ code: 'upstream_http_error', status: 502 })
    expect(upstream.journal.calls).toHaveLength(1)
    await ask()
    expect(issued).toBe(used + 1)
    expect(keysUsed()).toEqual([`AKISSUED${used}`, `AKISSUED${used + 1}`])
  },
)

test('credentials without permission are kept: others of the same role would not either', async () => {
  const used = issued
  upstream.script(refusal('AccessDeniedException'))
  await expect(ask()).rejects.toMatchObject({ status: 502 })
  await ask()
  expect(issued).toBe(used)
})
