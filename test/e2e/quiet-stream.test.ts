import { expect, test } from 'bun:test'
import { adaKey, startTestGateway } from '../harness/gateway.ts'
import { chatFrames, startUpstream } from '../harness/upstream.ts'

const QUIET_MS = 20_000

test('while an upstream sends nothing but comments its callers get some, between the events', async () => {
  await using started = new AsyncDisposableStack()
  const upstream = await startUpstream()
  started.defer(upstream.stop)
  upstream.always(async (x) => {
    const [first = '', ...rest] = chatFrames({ model: 'u' })
    await x.begin(200, { 'content-type': 'text/event-stream' })
    await x.write(first)
    for (let ms = 0; ms < QUIET_MS; ms += 1000) {
      await x.sleep(1000)
      await x.write(': PROCESSING\n\n')
    }
    for (const frame of rest) await x.write(frame)
    await x.end()
  })
  const gateway = await startTestGateway({
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, timeouts: { idle_ms: 5000 } },
    ],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
  })
  started.defer(gateway.stop)
  const ask = async (path: string, rest: object) => {
    const messages = [{ role: 'user', content: 'hi' }]
    const reply = await gateway.post(path, { model: 'm', stream: true, messages, ...rest })
    let silence = 0
    let before = performance.now()
    let text = ''
    const decoder = new TextDecoder()
    for await (const piece of reply.body as ReadableStream<Uint8Array>) {
      silence = Math.max(silence, performance.now() - before)
      before = performance.now()
      text += decoder.decode(piece, { stream: true })
    }
    return { blocks: text.split('\n\n'), silence }
  }
  const listen = async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }]
    const request = { model: 'm', stream: true as const, messages }
    let said = ''
    for await (const chunk of await gateway.openai(adaKey).chat.completions.create(request)) {
      said += chunk.choices[0]?.delta.content ?? ''
    }
    return said
  }
  const [chat, messages, said] = await Promise.all([
    ask('/v1/chat/completions', {}),
    ask('/v1/messages', { max_tokens: 10 }),
    listen(),
  ])
  for (const { blocks, silence } of [chat, messages]) {
    expect(silence).toBeLessThan(18_000)
    expect(blocks.filter((block) => block.startsWith(':'))).toEqual([': keep-alive'])
    expect(blocks.every((block) => /^(: |data: |event: |$)/.test(block))).toBe(true)
  }
  expect(chat.blocks.at(-2)).toBe('data: [DONE]')
  expect(messages.blocks.at(-2)).toStartWith('event: message_stop')
  expect(said).toContain('Rivers run')
}, 60_000)
