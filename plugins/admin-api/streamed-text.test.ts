import { expect, test } from 'bun:test'
import { streamedText } from './streamed-text.ts'

const never = () => {
  throw new Error('nothing broke')
}

/** A text of `count` pieces; `log` records which of them were requested, and how it ended. */
async function* pieces(count: number, log: unknown[], fails?: number) {
  try {
    for (let n = 1; n <= count; n++) {
      log.push(n)
      if (n === fails) throw new Error(`piece ${n}`)
      yield `${n}é`
    }
  } finally {
    log.push('over')
  }
}

test('a text is sent piece by piece, as UTF-8', async () => {
  const stream = await streamedText(pieces(3, []), never)
  expect(await new Response(stream).text()).toBe('1é2é3é')
  expect(await new Response(await streamedText(pieces(0, []), never)).text()).toBe('')
})

test('no piece is asked for before the one before it is read', async () => {
  const log: unknown[] = []
  const stream = await streamedText(pieces(3, log), never)
  await Bun.sleep(5)
  expect(log).toEqual([1])
  const reader = stream.getReader()
  await reader.read()
  await Bun.sleep(5)
  expect(log).toEqual([1])
  await reader.read()
  expect(log).toEqual([1, 2])
})

test('a caller who leaves ends the text, read or not', async () => {
  for (const reads of [0, 2]) {
    const log: unknown[] = []
    const reader = (await streamedText(pieces(3, log), never)).getReader()
    for (let n = 0; n < reads; n++) await reader.read()
    await reader.cancel()
    expect(log.at(-1)).toBe('over')
  }
})

test('an error before the first piece is an error, and a later one breaks the reply off', async () => {
  await expect(streamedText(pieces(3, [], 1), never)).rejects.toThrow('piece 1')

  const heard: unknown[] = []
  const stream = await streamedText(pieces(3, [], 2), (error) => heard.push(error))
  const read = new Response(stream).text()
  await expect(read).rejects.toThrow('piece 2')
  expect(heard).toEqual([new Error('piece 2')])
})
