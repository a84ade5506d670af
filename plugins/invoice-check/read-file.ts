import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { csvRows } from './csv-rows.ts'
import { columnName, type Format } from './format.ts'
import { formatOf, unknownFormat } from './formats.ts'
import { jsonBuckets } from './json-pages.ts'
import { InvoiceError, type Line, type Row } from './line.ts'

/**
 * Maximum number of rows before the header, because some exports start with data about the invoice.
 */
const ROWS_BEFORE_COLUMNS = 60

export interface ReadFile {
  readonly path: string
  readonly format: Format
  readonly rows: number
  /** Rows of other services. */
  readonly passedOver: number
  /** The last page refers to another page. */
  readonly hasMore: boolean
}

/** Passes the lines of a file to `take` while reading it. Throws InvoiceError with file and row. */
export async function readInvoiceFile(
  path: string,
  asked: Format | undefined,
  take: (line: Line, format: Format) => void,
): Promise<ReadFile> {
  const counts = { rows: 0, passedOver: 0 }
  const read = (format: Format, row: Row) => {
    counts.rows += 1
    const lines = format.read(row)
    if (lines.length === 0) counts.passedOver += 1
    for (const line of lines) take(line, format)
  }
  try {
    const { text, isJson } = await openText(path)
    const found = isJson ? await readPages(text, asked, read) : await readCsv(text, asked, read)
    return { path, ...counts, ...found }
  } catch (error) {
    const at = counts.rows > 0 && error instanceof InvoiceError ? `, row ${counts.rows}` : ''
    const { code, message } = error as NodeJS.ErrnoException
    if (!(error instanceof InvoiceError) && code === undefined) throw error
    throw new InvoiceError(`${path}${at}: ${message}`)
  }
}

async function readCsv(
  text: AsyncIterable<string>,
  asked: Format | undefined,
  read: (format: Format, row: Row) => void,
) {
  const before: (readonly string[])[] = []
  let format: Format | undefined
  let columns = new Map<string, number>()
  for await (const rows of csvRows(text)) {
    for (const cells of rows) {
      if (format === undefined) {
        columns = new Map(cells.map((cell, index) => [columnName(cell), index]))
        const known = new Set(columns.keys())
        const fits = asked?.columns.every((column) => known.has(column)) ? asked : undefined
        format = asked === undefined ? formatOf(known) : fits
        if (format !== undefined) format.check?.(before, cells)
        else if (before.push(cells) > ROWS_BEFORE_COLUMNS) throw refusal(before, asked)
      } else if (cells.length > 1 || cells[0] !== '') {
        read(format, (column) => cells[columns.get(column) ?? -1] ?? '')
      }
    }
  }
  if (format === undefined) throw refusal(before, asked)
  return { format, hasMore: false }
}

/** The row shown in the error: of all possible headers, the one with the most columns. */
function refusal(rows: readonly (readonly string[])[], asked: Format | undefined): InvoiceError {
  const [most] = rows.toSorted((a, b) => b.length - a.length)
  if (most === undefined) return new InvoiceError('it is empty')
  return unknownFormat(most.map(columnName), asked)
}

async function readPages(
  text: AsyncIterable<string>,
  asked: Format | undefined,
  read: (format: Format, row: Row) => void,
) {
  let format: Format | undefined
  let hasMore = false
  let around: JsonObject = {}
  /** Days without results do not identify the format. */
  const empty: JsonObject[] = []
  const page = (members: JsonObject) => {
    hasMore = members.has_more === true
    around = members
  }
  for await (const buckets of jsonBuckets(text, page)) {
    for (const { results, ...bucket } of buckets) {
      if (!Array.isArray(results) || results.length === 0) {
        empty.push(bucket)
        continue
      }
      for (const result of results) {
        const cells = flat(isJsonObject(result) ? { ...bucket, ...result } : bucket)
        const columns = new Set(cells.keys())
        format ??= asked ?? formatOf(columns)
        if (!format?.columns.every((column) => columns.has(column))) {
          throw unknownFormat(columns, format)
        }
        read(format, (column) => cells.get(column) ?? '')
      }
    }
  }
  if (format === undefined) {
    const [first] = empty
    if (first === undefined) throw unknownFormat(flat(around).keys(), asked)
    throw new InvoiceError('it has no results: no usage on the days of its pages')
  }
  for (const bucket of empty) {
    const cells = flat(bucket)
    read(format, (column) => cells.get(column) ?? '')
  }
  return { format, hasMore }
}

/** Flattens nested members into names such as `amount_value`. */
function flat(object: JsonObject, prefix = ''): Map<string, string> {
  const cells = new Map<string, string>()
  for (const [key, value] of Object.entries(object)) {
    const name = columnName(prefix + key)
    if (isJsonObject(value)) {
      for (const [inner, text] of flat(value, `${name}_`)) cells.set(inner, text)
    } else cells.set(name, textOf(value))
  }
  return cells
}

function textOf(value: JsonValue | undefined): string {
  return value === null || value === undefined || Array.isArray(value) ? '' : String(value)
}

/** The text of a file, decompressed if it is gzip, and whether it is JSON. */
async function openText(
  path: string,
): Promise<{ readonly text: AsyncIterable<string>; readonly isJson: boolean }> {
  const source = bytesOf(path)
  const first = await source.next()
  const head = first.done ? new Uint8Array() : first.value
  const start = String.fromCharCode(...head.subarray(0, 4))
  if (start.startsWith('PK')) throw new InvoiceError('it is a ZIP archive: unpack it first')
  if (start === 'PAR1') throw new InvoiceError('it is Parquet: export it as CSV')
  const chunks = joined(head, source)
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  const texts = decoded(isGzip ? unpacked(chunks) : chunks)
  const opening = await texts.next()
  const text = opening.done ? '' : opening.value
  return { text: joined(text, texts), isJson: /^\s*[[{]/.test(text) }
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    yield chunk as Uint8Array
  }
}

async function* unpacked(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  const input = Readable.from(chunks)
  input.on('error', (error) => gunzip.destroy(error))
  input.pipe(gunzip)
  for await (const chunk of gunzip) yield chunk as Uint8Array
}

async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

async function* joined<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}
