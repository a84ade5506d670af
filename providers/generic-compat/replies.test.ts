/** Replies: recorded streams, and replies that only look like success. */
import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import {
  bytes,
  collectEvents,
  errorStatus,
  json,
  providerCall,
  streamedUsage,
} from 'model-gateway/testing'
import { setUpCompat } from './__fixtures__/set-up.ts'

const { upstream, bench, setUp } = await setUpCompat()
const route = bench.bind()

function ask(body: JsonObject, family: string = 'chat_completions') {
  return route.execute[family]?.(providerCall({ model: 'asked', messages: [], ...body }))
}

async function fixture(name: string): Promise<Uint8Array> {
  return Bun.file(`${import.meta.dir}/__fixtures__/${name}`).bytes()
}

describe('streams in the wire formats of real upstreams', () => {
  test.each([
    ['openai-chat.sse', 'Hello! How can I help?', 29],
    ['openrouter-chat.sse', 'Bonjour — ça va ?', 23],
    ['vllm-chat.sse', '你好 🌊', 14],
  ])('%s', async (name, text, total) => {
    upstream.script(bytes(await fixture(name), 'text/event-stream'))
    const result = await ask({ stream: true })
    if (result === undefined) throw new Error('no executor')
    const events = await collectEvents(result)
    const chunks = events
      .filter((e) => e.data !== '[DONE]')
      .map((e) => e.json() as { choices: { delta: { content?: string } }[] })
    expect(chunks.map((c) => c.choices[0]?.delta.content ?? '').join('')).toBe(text)
    expect(streamedUsage(events)?.total_tokens).toBe(total)
    expect(events.at(-1)?.data).toBe('[DONE]')
  })
})

test('the media type of a stream is read in any case', async () => {
  const stream = await fixture('openai-chat.sse')
  upstream.script(bytes(stream, 'Text/Event-Stream; charset=UTF-8'))
  expect(await ask({ stream: true })).toMatchObject({ kind: 'stream' })
})

describe('replies of another kind', () => {
  test.each([
    ['<html>internal-host-17</html>', 'text/html'],
    ['[1]', 'application/json'],
    ['', 'application/json'],
    ['data: {}\n\n', 'text/event-stream'],
    ['data: {"choices":[{"delta":{"content":"cut"}}]}\n\n', 'text/event-stream'],
  ])('%p as %s', async (body, contentType) => {
    upstream.script(bytes(body, contentType))
    const error = await ask({})?.catch((reason) => reason)
    expect(error).toMatchObject({ code: 'upstream_transport', status: 502 })
    expect(error.message).not.toContain('internal-host')
  })

  test('an error with status 200 is an error', async () => {
    upstream.script(json({ error: { message: 'No endpoints found', code: 404 } }))
    await expect(ask({})).rejects.toMatchObject({
      code: 'upstream_http_error',
      status: 502,
      message: 'No endpoints found',
    })
  })

  test('vectors next to an error are a reply', async () => {
    const reply = { object: 'list', data: [], error: { message: 'one input was cut' } }
    upstream.script(json(reply))
    expect(await ask({ input: 'x' }, 'embeddings')).toMatchObject({ kind: 'buffered', body: reply })
  })

  test('a failed response object is a reply, not a transport error', async () => {
    const failed = { id: 'resp_1', status: 'failed', error: { message: 'no' }, output: [] }
    upstream.script(json(failed))
    expect(await ask({ input: 'x' }, 'responses')).toMatchObject({ kind: 'buffered', body: failed })
  })

  test('an error that repeats a key from a configured header', async () => {
    const keyed = await setUp({
      settings: { defaultHeaders: { 'Api-Key': 'k3y-of-the-operator' } },
    })
    upstream.script(errorStatus(400, 'the key k3y-of-the-operator is for another region'))
    const call = providerCall({ model: 'asked', messages: [] })
    await expect(keyed.bind().execute.chat_completions?.(call)).rejects.toMatchObject({
      message: 'the key [redacted] is for another region',
    })
  })

  test('an error status has its message and type', async () => {
    upstream.script(json({ error: { message: 'Slow down', code: 'busy' } }, 429))
    await expect(ask({ stream: true })).rejects.toMatchObject({
      code: 'upstream_http_error',
      status: 429,
      message: 'Slow down',
      upstream: { code: 'busy' },
    })
  })
})
