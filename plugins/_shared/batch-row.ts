/** What is written: a JSON object, and perhaps more members of it that it can do without. */
export interface BatchRow {
  readonly json: string
  /** `"name":value,…` */
  readonly payload: string | undefined
  /** Rows of one group are written in their order; a row without one is its own. */
  readonly group?: string
}

/** Rows with their payloads as a JSON array. In one piece and one parameter: each costs a copy. */
export function arrayOf(rows: readonly BatchRow[]): string {
  const pieces: string[] = []
  for (const { json, payload } of rows) {
    pieces.push(pieces.length === 0 ? '[' : ',')
    if (payload === undefined) pieces.push(json)
    else pieces.push(json.slice(0, -1), ',', payload, '}')
  }
  pieces.push(pieces.length === 0 ? '[]' : ']')
  return pieces.join('')
}
