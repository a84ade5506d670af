import { expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { eventually } from '../../test/harness/gateway.ts'
import type { ReplyStream } from '../lifecycle/exchange.ts'
import { createKeepAlive, type KeptStream } from './keep-alive.ts'
import { type StreamCare, streamResponse } from './stream-response.ts'

const care = (keepAliveMs: number, stalledSecs = 60) => ({
  stalledSecs,
  keptSecs: 1,
  keepAlive: createKeepAlive(keepAliveMs),
})

/** `limits`: the idle limits that the connection was given, in order. */
function serve(stream: ReplyStream, usual: StreamCare, limits: number[] = []) {
  return Bun.serve({
    port: 0,
    fetch(request, server) {
      const limitIdle = (seconds: number) => {
        limits.push(seconds)
        server.timeout(request, seconds)
      }
      limitIdle(0)
      return streamResponse(stream, {}, limitIdle, undefined, usual)
    },
  })
}

/** A caller whose connection the server may close. */
function callerOf({ port }: Bun.Server<undefined>): Socket {
  return connect(port as number, '127.0.0.1').on('error', () => {})
}

test('a caller that does not read pending data counts as gone', async () => {
  const left = Promise.withResolvers<void>()
  const endless = { next: async () => 'x'.repeat(64 << 10), cancel: () => left.resolve() }
  const server = serve(endless, care(60_000, 1))
  const caller = callerOf(server)
  try {
    caller.once('data', () => caller.pause())
    caller.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await left.promise
  } finally {
    caller.destroy()
    await server.stop(true)
  }
}, 20_000)

test('a caller that reads on after a pause may be left in silence again', async () => {
  const limits: number[] = []
  const piece = 'x'.repeat(64 << 10)
  let kept: KeptStream | undefined
  const keepAlive = {
    add(one: KeptStream) {
      kept = one
    },
    remove() {},
  }
  const stream = told(Array(200).fill([0, piece]))
  const server = serve(stream, { stalledSecs: 60, keptSecs: 1, keepAlive }, limits)
  const caller = callerOf(server)
  try {
    caller.once('data', () => caller.pause())
    caller.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await eventually(async () => (limits.length > 1 ? limits : undefined))
    // It gets no comments meanwhile, and gets them again afterwards.
    expect(kept?.stalled).toBe(true)
    caller.resume()
    await eventually(async () => (limits.at(-1) === 1 ? limits : undefined))
    expect(limits.slice(0, 3)).toEqual([0, 60, 0])
    expect(kept?.stalled).toBe(false)
  } finally {
    caller.destroy()
    await server.stop(true)
  }
})

/** Events with the milliseconds before each. */
function told(script: readonly (readonly [ms: number, text: string])[]): ReplyStream {
  const rest = [...script]
  return {
    async next() {
      const [ms, text] = rest.shift() ?? [0, undefined]
      await Bun.sleep(ms)
      return text
    },
    cancel() {},
  }
}

test('closes the idle connection of a stream that ended', async () => {
  const server = serve(told([[0, 'data: 1\n\n']]), care(60_000))
  const caller = callerOf(server)
  try {
    const closed = new Promise<string>((resolve) => caller.once('close', () => resolve('closed')))
    caller.resume()
    caller.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(await Promise.race([closed, Bun.sleep(9000)])).toBe('closed')
  } finally {
    caller.destroy()
    await server.stop(true)
  }
}, 15_000)

test('in silence there are comments, between its events and before the first', async () => {
  const stream = told([
    [250, 'data: 1\n\n'],
    [0, 'data: 2\n\n'],
    [250, 'data: 3\n\n'],
  ])
  await using server = serve(stream, care(100))
  const text = await (await fetch(server.url)).text()
  const comment = ': keep-alive\n\n'
  expect(text.replaceAll(comment, '').replace(':\n\n', '')).toBe(
    'data: 1\n\ndata: 2\n\ndata: 3\n\n',
  )
  expect(text).toStartWith(`:\n\n${comment}`)
  expect(text).toContain(`data: 1\n\ndata: 2\n\n${comment}`)
  expect(text).toEndWith('data: 3\n\n')
})

test('a stream that speaks in time has none', async () => {
  const stream = told(Array.from({ length: 6 }, (_, n) => [30, `data: ${n}\n\n`] as const))
  await using server = serve(stream, care(2_000))
  expect(await (await fetch(server.url)).text()).not.toContain('keep-alive')
})

test('the silence of a stream counts from its last event', async () => {
  const next = Promise.withResolvers<string | undefined>()
  const texts = [Promise.resolve('data: 1\n\n'), next.promise]
  const stream = { next: async () => await texts.shift(), cancel() {} }
  let kept: KeptStream | undefined
  const keepAlive = {
    add(one: KeptStream) {
      kept = one
    },
    remove() {},
  }
  await using server = serve(stream, { stalledSecs: 60, keptSecs: 1, keepAlive })
  const reader = (await fetch(server.url)).body?.getReader()
  await reader?.read()
  if (kept === undefined) throw new Error('the stream is not kept alive')
  kept.quiet = 14
  next.resolve('data: 2\n\n')
  await reader?.read()
  expect(kept.quiet).toBe(0)
  await reader?.cancel()
})

test('sends no keep-alives to a stream whose caller has left, although it is read on', async () => {
  const left = Promise.withResolvers<void>()
  const readOn = Promise.withResolvers<undefined>()
  let asked = false
  const stream: ReplyStream = {
    next() {
      if (asked) return readOn.promise
      asked = true
      return Promise.resolve('data: 1\n\n')
    },
    cancel: () => left.resolve(),
  }
  const kept = new Set<KeptStream>()
  const keepAlive = {
    add: (one: KeptStream) => void kept.add(one),
    remove: (one: KeptStream) => void kept.delete(one),
  }
  await using server = serve(stream, { stalledSecs: 60, keptSecs: 1, keepAlive })
  const reader = (await fetch(server.url)).body?.getReader()
  await reader?.read()
  expect(kept.size).toBe(1)
  await reader?.cancel()
  await left.promise
  expect(kept.size).toBe(0)
  readOn.resolve(undefined)
})
