import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import type { JsonObject } from 'model-gateway/plugin'
import {
  believable,
  chatUsage,
  delayed,
  errorStatus,
  halfEvent,
  html,
  huge,
  invalidUtf8,
  json,
  missingDone,
  neverAnswers,
  paced,
  redirect,
  resetBeforeHeaders,
  resetMidStream,
  slowHeaders,
  startUpstream,
} from './upstream.ts'

const upstream = await startUpstream()
beforeEach(() => upstream.clear())
afterAll(() => upstream.stop())

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }

function post(path: string, body: JsonObject, signal?: AbortSignal): Promise<Response> {
  return fetch(`${upstream.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', 'x-mine': 'yes' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** The data lines of a stream, parsed, and whether `[DONE]` came last. */
async function frames(response: Response): Promise<{ data: JsonObject[]; done: boolean }> {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  const done = lines.at(-1) === 'data: [DONE]'
  return { data: (done ? lines.slice(0, -1) : lines).map((l) => JSON.parse(l.slice(6))), done }
}

test('the journal keeps what arrived, and that the reply was sent', async () => {
  const reply = await post('/chat/completions?x=1', { ...chat, big: 'é'.repeat(100_000) })
  expect(await reply.json()).toHaveProperty('usage', chatUsage)
  const call = await upstream.received(0)
  await call.ended
  expect(call).toMatchObject({ method: 'POST', path: '/v1/chat/completions?x=1', outcome: 'sent' })
  expect(call.headers['x-mine']).toBe('yes')
  expect(call.body).toMatchObject(chat)
  expect(call.rawBody).toBe(JSON.stringify(call.body))
  expect(call.endedAt?.getTime()).toBeGreaterThanOrEqual(call.receivedAt.getTime())
})

test('one connection serves several requests, in script order before the standing reply', async () => {
  upstream.script(json({ n: 1 }), errorStatus(418, 'teapot'))
  upstream.always(json({ n: 3 }))
  expect(await (await post('/x', {})).json()).toEqual({ n: 1 })
  const second = await post('/x', {})
  expect(second.status).toBe(418)
  expect(await second.json()).toMatchObject({ error: { message: 'teapot' } })
  expect(await (await post('/x', {})).json()).toEqual({ n: 3 })
})

describe('believable replies', () => {
  const tools = [{ type: 'function', function: { name: 'weather', parameters: {} } }]

  test('streamed chat says the buffered text, with usage only when it was asked for', async () => {
    const whole = (await (await post('/chat/completions', chat)).json()) as JsonObject
    const without = await frames(await post('/chat/completions', { ...chat, stream: true }))
    const asked = await frames(
      await post('/chat/completions', {
        ...chat,
        stream: true,
        stream_options: { include_usage: true },
      }),
    )
    // biome-ignore lint/suspicious/noExplicitAny: replies are read loosely here
    const text = asked.data.map((c: any) => c.choices[0]?.delta.content ?? '').join('')
    expect(whole).toMatchObject({ choices: [{ message: { content: text } }] })
    expect(asked.done && without.done).toBe(true)
    expect(asked.data.at(-1)).toMatchObject({ choices: [], usage: chatUsage })
    expect(without.data.some((chunk) => 'usage' in chunk)).toBe(false)
  })

  test('an offered tool is called, buffered and in streamed fragments, until it has answered', async () => {
    const body = { ...chat, tools }
    const call = { function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
    expect(await (await post('/chat/completions', body)).json()).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { content: null, tool_calls: [call] } }],
    })
    const streamed = await frames(await post('/chat/completions', { ...body, stream: true }))
    // biome-ignore lint/suspicious/noExplicitAny: replies are read loosely here
    const calls = streamed.data.flatMap((c: any) => c.choices[0]?.delta.tool_calls ?? [])
    expect(calls.map((c) => c.function.arguments).join('')).toBe('{"city":"Oslo"}')
    const answered = { ...body, messages: [{ role: 'tool', tool_call_id: 'x', content: '9' }] }
    expect(await (await post('/chat/completions', answered)).json()).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
    })
  })

  test('a streamed response numbers its events and ends completed, with usage', async () => {
    for (const offered of [undefined, [{ type: 'function', name: 'weather', parameters: {} }]]) {
      const body = { model: 'm', input: 'hi', stream: true, ...(offered && { tools: offered }) }
      const { data, done } = await frames(await post('/responses', body))
      expect(done).toBe(false)
      expect(data.map((event) => event.sequence_number)).toEqual(data.map((_, i) => i))
      expect(data.at(-1)).toMatchObject({
        type: 'response.completed',
        response: { status: 'completed', usage: { total_tokens: 43 } },
      })
    }
  })

  test('embeddings keep order, and base64 holds the same numbers', async () => {
    const input = ['a', 'b']
    type Reply = { data: { embedding: string }[] }
    const floats = await (await post('/embeddings', { input })).json()
    const asked = { input, encoding_format: 'base64' }
    const packed = (await (await post('/embeddings', asked)).json()) as Reply
    const bytes = Buffer.from(packed.data[1]?.embedding ?? '', 'base64')
    const unpacked = new Float32Array(new Uint8Array(bytes).buffer)
    expect(floats).toHaveProperty('data[1].embedding', [...unpacked])
  })
})

describe('faults', () => {
  test('a caller that leaves is journalled as aborted', async () => {
    upstream.script(neverAnswers, paced(1000, 5))
    for (const index of [0, 1]) {
      const controller = new AbortController()
      const asked = post('/chat/completions', { ...chat, stream: true }, controller.signal)
      const call = await upstream.received(index)
      expect(call.outcome).toBe('open')
      if (index === 1) await (await asked).body?.getReader().read()
      controller.abort()
      await asked.catch(() => {})
      await call.ended
      expect(call.outcome).toBe('aborted')
    }
  })

  test('resets break the caller off, before the head and in the stream', async () => {
    upstream.script(resetBeforeHeaders, resetMidStream())
    await expect(post('/chat/completions', chat)).rejects.toThrow()
    const broken = await post('/chat/completions', { ...chat, stream: true })
    expect(broken.status).toBe(200)
    await expect(broken.text()).rejects.toThrow()
    await upstream.journal.calls[1]?.ended
    expect(upstream.journal.calls.map((call) => call.outcome)).toEqual(['reset', 'reset'])
  })

  test('the rest does what its name says', async () => {
    const stream = { ...chat, stream: true }
    upstream.script(html, halfEvent, invalidUtf8, missingDone, redirect)
    expect((await post('/chat/completions', chat)).headers.get('content-type')).toBe('text/html')
    expect(await (await post('/chat/completions', stream)).text()).not.toEndWith('\n\n')
    const broken = await (await post('/chat/completions', stream)).bytes()
    expect(() => new TextDecoder('utf-8', { fatal: true }).decode(broken)).toThrow()
    expect((await frames(await post('/chat/completions', stream))).done).toBe(false)
    expect((await post('/chat/completions', chat)).status).toBe(302)

    upstream.script(slowHeaders(1), huge(3_000_000), delayed(50), believable({ pieceBytes: 1 }))
    const slow = await (await post('/chat/completions', chat)).json()
    expect(slow).toMatchObject({ object: 'chat.completion' })
    type Reply = { choices: [{ message: { content: string } }] }
    const large = (await (await post('/chat/completions', chat)).json()) as Reply
    expect(large.choices[0].message.content.length).toBeGreaterThanOrEqual(3_000_000)
    const before = performance.now()
    await (await post('/chat/completions', chat)).json()
    expect(performance.now() - before).toBeGreaterThan(45)
    expect((await frames(await post('/chat/completions', stream))).done).toBe(true)
  })
})

test('1,200 slow calls are held at once and all answered', async () => {
  upstream.always(delayed(1500))
  const body = JSON.stringify(chat)
  // Plain sockets, because fetch limits how many requests run at once.
  const replies = Array.from(
    { length: 1200 },
    () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: Number(new URL(upstream.url).port) })
        let text = ''
        socket.setEncoding('utf8')
        socket.on('error', reject)
        socket.on('data', (chunk: string) => {
          text += chunk
          if (text.endsWith('}')) socket.destroy()
        })
        socket.on('close', () => resolve(text))
        socket.write(
          `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        )
      }),
  )
  await upstream.received(1199)
  expect(upstream.journal.calls.filter((call) => call.outcome === 'open').length).toBeGreaterThan(
    1000,
  )
  const texts = await Promise.all(replies)
  expect(texts.every((text) => text.includes('"finish_reason":"stop"'))).toBe(true)
}, 20_000)
