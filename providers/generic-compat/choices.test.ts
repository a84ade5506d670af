/** Members of a caller's body, other than `model`, that select a model or seller. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { providerCall } from 'model-gateway/testing'
import { setUpCompat } from './__fixtures__/set-up.ts'

const { upstream, bench } = await setUpCompat()

type Route = Parameters<typeof bench.bind>[0]

const bodies: Partial<Record<string, JsonObject>> = {
  chat_completions: { model: 'asked', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'asked', input: 'hi' },
  embeddings: { model: 'asked', input: 'hi' },
}

/** What the upstream was sent, or why nothing was. */
async function send(more: JsonObject, route: Route = {}, family: string = 'chat_completions') {
  upstream.clear()
  try {
    await bench.bind(route).execute[family]?.(providerCall({ ...bodies[family], ...more }))
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request' })
    expect(upstream.journal.calls).toHaveLength(0)
    return (error as Error).message
  }
  return upstream.journal.calls.at(-1)?.body as JsonObject
}

describe('a caller', () => {
  test.each([
    [{ models: ['dear'] }, 'models: could select a model'],
    [{ models: ['upstream-model', 'dear'] }, 'models: could select a model'],
    [{ fallbacks: [{ model: 'dear' }] }, 'fallbacks: could select a model'],
    [{ compound_custom: { models: { answering_model: 'dear' } } }, 'compound_custom: could select'],
    [{ provider: { only: ['dear'] } }, 'provider: could select a seller'],
    [{ provideroptions: { gateway: { only: ['x'] } } }, 'provideroptions: could select a'],
    [{ api_base: 'https://elsewhere.test' }, 'api_base: could select a seller'],
  ] as [JsonObject, string][])('cannot choose who answers with %j', async (more, message) => {
    expect(await send(more)).toStartWith(message)
    for (const family of ['responses', 'embeddings'] as const) {
      expect(await send(more, {}, family)).toStartWith(message)
    }
  })

  test('may send members that choose nothing', async () => {
    const more = { models: ['upstream-model'], fallbacks: [], provider: null, transforms: ['x'] }
    expect(await send(more)).toMatchObject(more)
  })

  test('may send members that the route allows or sets', async () => {
    const provider = { sort: 'price' }
    const lets = { compatibility: { generic_compat: { caller_choices: ['provider'] } } }
    expect(await send({ provider }, lets)).toMatchObject({ provider })
    expect(await send({ models: ['dear'] }, lets)).toStartWith('models:')
    const sets = { extraBody: { models: ['upstream-model', 'other'] } }
    expect(await send({ models: ['dear'] }, sets)).toMatchObject(sets.extraBody)
  })

  test('cannot bypass the aggregator block by an API that does not send it', async () => {
    const route = { compatibility: { aggregator: { provider: { zdr: true } } } }
    expect(await send({ provider: { only: ['dear'] } }, route)).toMatchObject({
      provider: { zdr: true },
    })
    expect(await send({ provider: { only: ['dear'] } }, route, 'responses')).toStartWith(
      'provider:',
    )
  })
})
