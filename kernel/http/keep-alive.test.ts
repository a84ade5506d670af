import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { createKeepAlive, type KeptStream } from './keep-alive.ts'

const MS = 1500
const TICK_MS = MS / 60

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

/** A stream, and the number of comments sent to it. */
function silent() {
  const sent: string[] = []
  let flushed = 0
  const stream: KeptStream = {
    quiet: 0,
    begun: true,
    sign: 'ping',
    stalled: false,
    controller: { write: (text: string) => sent.push(text), flush: () => flushed++ },
    place: undefined,
  }
  function comments(): number {
    expect(flushed).toBe(sent.length)
    return sent.length
  }
  return { stream, comments, texts: sent }
}

test('sends a comment after each period of silence, for any number of streams', () => {
  const keepAlive = createKeepAlive(MS)
  const streams = [silent(), silent(), silent()]
  for (const { stream } of streams) keepAlive.add(stream)
  for (const { stream } of streams) expect(stream.place).toBeNumber()
  jest.advanceTimersByTime(MS - TICK_MS)
  expect(streams.map(({ comments }) => comments())).toEqual([0, 0, 0])
  jest.advanceTimersByTime(TICK_MS)
  expect(streams.map(({ comments }) => comments())).toEqual([1, 1, 1])
  jest.advanceTimersByTime(2 * MS)
  expect(streams.map(({ comments }) => comments())).toEqual([3, 3, 3])
})

test('a caller that does not read gets none, and its silence counts on afterwards', () => {
  const keepAlive = createKeepAlive(MS)
  const { stream, comments } = silent()
  keepAlive.add(stream)
  stream.stalled = true
  jest.advanceTimersByTime(2 * MS)
  expect(comments()).toBe(0)
  stream.stalled = false
  jest.advanceTimersByTime(MS - TICK_MS)
  expect(comments()).toBe(0)
  jest.advanceTimersByTime(TICK_MS)
  expect(comments()).toBe(1)
})

test('removing a stream twice removes no other stream', () => {
  const keepAlive = createKeepAlive(MS)
  const [first, second] = [silent(), silent()]
  keepAlive.add(first.stream)
  keepAlive.remove(first.stream)
  keepAlive.add(second.stream)
  keepAlive.remove(first.stream)
  jest.advanceTimersByTime(MS)
  expect([first.comments(), second.comments()]).toEqual([0, 1])
})

test('starts a stream without data, so that its headers are sent', () => {
  const keepAlive = createKeepAlive(MS)
  const { stream, texts } = silent()
  stream.begun = false
  keepAlive.add(stream)
  jest.advanceTimersByTime(TICK_MS)
  expect(texts).toEqual([':\n\n'])
  jest.advanceTimersByTime(MS)
  expect(texts).toEqual([':\n\n', 'ping'])
})
