import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { ProviderResult } from 'model-gateway/provider'
import { collectEvents, providerCall, setUpProvider, streamedUsage } from 'model-gateway/testing'
import { configSchema } from './config.ts'
import plugin from './index.ts'

async function ask(body: JsonObject, family: string, config: JsonObject): Promise<ProviderResult> {
  const bench = await setUpProvider({ plugin, type: 'simulator', config })
  return (await bench
    .bind()
    .execute[family]?.(providerCall({ model: 'demo', ...body }))) as ProviderResult
}

const user = (content: string) => ({ messages: [{ role: 'user', content }] })

describe('scripted behaviour', () => {
  const fault = (kind: string, more: JsonObject = {}) => ({
    faults: [{ match: 'break', kind, ...more }],
  })
  const family = 'chat_completions'

  test('latency comes before the reply', async () => {
    const before = performance.now()
    await ask(user('x'), family, { latency_ms: 60 })
    expect(performance.now() - before).toBeGreaterThan(55)
  })

  test('more latency than a timer counts is refused: it would be none', () => {
    expect(Value.Check(configSchema, { latency_ms: 2 ** 31 - 1 })).toBe(true)
    expect(Value.Check(configSchema, { latency_ms: 2 ** 31 })).toBe(false)
  })

  test('a fault affects only matching calls', async () => {
    const config = fault('error_status', { status: 429 })
    expect(await ask(user('fine'), family, config)).toMatchObject({ kind: 'buffered' })
    await expect(ask(user('please break'), family, config)).rejects.toMatchObject({
      code: 'upstream_http_error',
      status: 429,
    })
    await expect(
      ask({ input: 'break' }, 'embeddings', fault('error_status')),
    ).rejects.toMatchObject({ status: 500 })
  })

  test('a timeout lasts until the call is aborted, and has the abort’s reason', async () => {
    const config = fault('timeout')
    const bench = await setUpProvider({ plugin, type: 'simulator', config })
    const call = providerCall({ model: 'demo', ...user('break') })
    const result = bench.bind().execute.chat_completions?.(call)
    const first = await Promise.race([result?.catch(() => 'ended'), Bun.sleep(40)])
    expect(first).toBeUndefined()
    call.abort()
    await expect(result).rejects.toMatchObject({ code: 'upstream_timeout' })
  })

  test('streams abort or become malformed after some events; buffered calls fail', async () => {
    const reset = await ask({ ...user('break'), stream: true }, family, fault('reset_mid_stream'))
    expect(await collectEvents(reset).catch((error) => error)).toBeInstanceOf(GatewayError)
    const config = fault('malformed_stream')
    const events = await collectEvents(
      await ask({ ...user('break'), stream: true }, family, config),
    )
    expect(() => events.at(-1)?.json()).toThrow(SyntaxError)
    await expect(ask(user('break'), family, config)).rejects.toMatchObject({
      code: 'upstream_transport',
    })
  })

  test.each(['chat_completions', 'responses'] as const)('%s without usage', async (kind) => {
    const body = { ...user('break'), input: 'break' }
    const config = fault('missing_usage')
    const whole = await ask(body, kind, config)
    expect(whole.kind === 'buffered' && whole.body.usage).toBeUndefined()
    const events = await collectEvents(await ask({ ...body, stream: true }, kind, config))
    expect(streamedUsage(events)).toBeUndefined()
    expect(events.length).toBeGreaterThan(5)
  })
})
