import { InvoiceError } from './line.ts'

/** Limit of a record, because an unterminated one would be buffered to the end of the file. */
const LONGEST_RECORD = 8 * 1024 * 1024

/**
 * The records of CSV text (RFC 4180), as it is read; `separator` is detected from the first lines.
 */
export async function* csvRows(
  chunks: AsyncIterable<string>,
): AsyncGenerator<readonly (readonly string[])[]> {
  let rest = ''
  let separator: string | undefined
  for await (const chunk of chunks) {
    const text = rest + chunk
    const rows: string[][] = []
    let from = 0
    for (;;) {
      const end = recordEnd(text, from)
      if (end === -1) break
      separator ??= separatorOf(text.slice(from, end))
      rows.push(cellsOf(text.slice(from, end), separator ?? ','))
      from = end + 1
    }
    rest = text.slice(from)
    if (rest.length > LONGEST_RECORD) {
      throw new InvoiceError(
        'a row is longer than 8 MB: a quote is not closed, or the file is not CSV',
      )
    }
    if (rows.length > 0) yield rows
  }
  if (rest.trim() !== '') yield [cellsOf(rest, separator ?? separatorOf(rest) ?? ',')]
}

/**
 * Index of the line break that ends the record starting at `from`; -1: not in the text read so far.
 */
function recordEnd(text: string, from: number): number {
  let quotes = 0
  let counted = from
  for (let end = from; ; end++) {
    end = text.indexOf('\n', end)
    if (end === -1) return -1
    for (let at = text.indexOf('"', counted); at !== -1 && at < end; ) {
      quotes += 1
      at = text.indexOf('"', at + 1)
    }
    counted = end
    if (quotes % 2 === 0) return end
  }
}

/** Spreadsheets also save tabs and semicolons. Undefined if no line has columns. */
function separatorOf(record: string): string | undefined {
  return [',', '\t', ';'].find((mark) => record.includes(mark))
}

function cellsOf(record: string, separator: string): string[] {
  const line = record.endsWith('\r') ? record.slice(0, -1) : record
  if (!line.includes('"')) return line.split(separator)
  const cells: string[] = []
  for (let at = 0; at <= line.length; at++) {
    const quoted = line[at] === '"'
    let end = quoted ? closingQuote(line, at) + 1 : at
    end = line.indexOf(separator, end)
    if (end === -1) end = line.length
    const cell = line.slice(at, end)
    cells.push(quoted ? cell.slice(1, cell.lastIndexOf('"')).replaceAll('""', '"') : cell)
    at = end
  }
  return cells
}

function closingQuote(line: string, open: number): number {
  for (let at = open + 1; ; at += 2) {
    at = line.indexOf('"', at)
    if (at === -1) return line.length
    if (line[at + 1] !== '"') return at
  }
}
