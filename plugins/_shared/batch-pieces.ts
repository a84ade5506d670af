import type { BatchRow } from './batch-row.ts'

/** A piece this large is sent in a short turn, and is enough work for one database process. */
export const PIECE_CHARS = 256 * 1024

/**
 * Writes rows in concurrent pieces of about PIECE_CHARS, each sent in a separate turn. Rows of one
 * group stay in one piece and in order. Rejects after all pieces were tried if one failed.
 */
export async function writeInPieces<R extends BatchRow>(
  rows: readonly R[],
  write: (piece: readonly R[]) => Promise<void>,
): Promise<void> {
  if (rows.reduce((sum, row) => sum + sizeOf(row), 0) <= PIECE_CHARS) return await write(rows)
  const failures: unknown[] = []
  const underWay: Promise<unknown>[] = []
  for (const piece of piecesOf(rows)) {
    underWay.push(write(piece).catch((error) => failures.push(error)))
    await new Promise(setImmediate)
  }
  await Promise.all(underWay)
  if (failures.length > 0) throw failures[0]
}

function* piecesOf<R extends BatchRow>(rows: readonly R[]): Generator<readonly R[]> {
  const groups = Map.groupBy(rows, (row) => row.group ?? row)
  let piece: R[] = []
  let chars = 0
  for (const group of groups.values()) {
    const size = group.reduce((sum, row) => sum + sizeOf(row), 0)
    if (chars > 0 && chars + size > PIECE_CHARS) {
      yield piece
      piece = []
      chars = 0
    }
    piece.push(...group)
    chars += size
  }
  yield piece
}

function sizeOf({ json, payload = '' }: BatchRow): number {
  return json.length + payload.length
}
