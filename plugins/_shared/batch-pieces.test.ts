import { describe, expect, test } from 'bun:test'
import { PIECE_CHARS, writeInPieces } from './batch-pieces.ts'

const payload = 'x'.repeat(Math.floor(PIECE_CHARS * 0.3))
const rows = Array.from({ length: 8 }, (_, n) => ({ json: `{"n":${n}}`, payload }))
const numbers = (piece: readonly { readonly json: string }[]) =>
  piece.map(({ json }) => JSON.parse(json).n)

describe('a batch', () => {
  test('that is small is written in one piece', async () => {
    const written: unknown[] = []
    const few = rows.slice(0, 3)
    await writeInPieces(few, async (piece) => void written.push(piece))
    expect(written).toEqual([few])
    expect(written[0]).toBe(few)
  })

  test('that is large is written in concurrent pieces, each sent in a separate turn', async () => {
    const begun: number[][] = []
    let inThisTurn = 0
    let most = 0
    const all = Promise.withResolvers<void>()
    await writeInPieces(rows, async (piece) => {
      begun.push(numbers(piece))
      inThisTurn++
      setImmediate(() => {
        inThisTurn--
      })
      most = Math.max(most, inThisTurn)
      if (begun.length === 3) all.resolve()
      await all.promise
    })
    expect(begun).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [6, 7],
    ])
    expect(most).toBe(1)
  })

  test('with a failing piece is tried completely, and fails', async () => {
    const tried: number[] = []
    const writing = writeInPieces(rows, async (piece) => {
      tried.push(...numbers(piece))
      if (tried.length < 6) throw new Error(`no ${piece.length}`)
      await Bun.sleep(10)
      tried.push(-1)
    })
    await expect(writing).rejects.toThrow('no 3')
    expect(tried).toEqual([0, 1, 2, 3, 4, 5, 6, 7, -1, -1])
  })

  test('keeps rows of a group together and in order', async () => {
    const pieces: number[][] = []
    const grouped = rows.map((row, n) => ({ ...row, group: `${n % 3}` }))
    await writeInPieces(grouped, async (piece) => void pieces.push(numbers(piece)))
    expect(pieces).toEqual([
      [0, 3, 6],
      [1, 4, 7],
      [2, 5],
    ])
  })

  test('puts a row that is larger than a piece in a separate piece', async () => {
    const pieces: number[][] = []
    const large = { json: '{"n":9}', payload: payload.repeat(4) }
    const few = [rows[0], large, rows[1]].filter((row) => row !== undefined)
    await writeInPieces(few, async (piece) => void pieces.push(numbers(piece)))
    expect(pieces).toEqual([[0], [9], [1]])
    pieces.length = 0
    await writeInPieces([large], async (piece) => void pieces.push(numbers(piece)))
    expect(pieces).toEqual([[9]])
  })
})
