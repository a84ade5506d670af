import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { InvoiceError } from './line.ts'

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
/** Limit of one element, which is a bucket of a page: a day with its results. */
const LONGEST_ELEMENT = 64 * 1024 * 1024

/**
 * Streams the buckets in the `data` lists of JSON pages, which follow each other or are in a list.
 * Numbers stay text, so that none is rounded. `page` is called with the members around the list.
 */
export async function* jsonBuckets(
  chunks: AsyncIterable<string>,
  page: (members: JsonObject) => void,
): AsyncGenerator<readonly JsonObject[]> {
  /** The path of members and lists around the elements, with each list index as 0. */
  let around = ''
  let element: string | undefined
  let depth = 0
  let inner = 0
  let inString = false
  let escaped = false
  let listDepth: number | undefined

  for await (const chunk of chunks) {
    const found: JsonObject[] = []
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk.charCodeAt(at)
      if (inString) {
        if (escaped) escaped = false
        else if (code === BACKSLASH) escaped = true
        else if (code === QUOTE) inString = false
      } else if (code === QUOTE) {
        inString = true
      } else if (element !== undefined) {
        if (code === OPEN_BRACE || code === OPEN_BRACKET) inner += 1
        else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
          inner -= 1
          if (inner > 0) continue
          found.push(parse(element + chunk.slice(from, at + 1)))
          around += '0'
          element = undefined
          from = at + 1
        }
      } else if (code === OPEN_BRACE && listDepth === depth) {
        around += chunk.slice(from, at)
        element = ''
        inner = 1
        from = at
      } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        depth += 1
        const before = around.slice(-64) + chunk.slice(from, at)
        if (code === OPEN_BRACKET && /"data"\s*:\s*$/.test(before)) listDepth = depth
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (listDepth === depth) listDepth = undefined
        depth -= 1
        if (depth > 0) continue
        for (const members of [parse(around + chunk.slice(from, at + 1))].flat()) page(members)
        around = ''
        from = at + 1
      }
    }
    if (element === undefined) around += chunk.slice(from)
    else element += chunk.slice(from)
    if (around.length + (element?.length ?? 0) > LONGEST_ELEMENT) {
      throw new InvoiceError('an element of the JSON is longer than 64 MB')
    }
    if (found.length > 0) yield found
  }
  if (around.trim() !== '' || element !== undefined) {
    throw new InvoiceError('the JSON is incomplete: download the page again')
  }
}

function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text, asWritten)
  } catch (error) {
    throw new InvoiceError(`it is not valid JSON: ${(error as Error).message}`)
  }
  if (isJsonObject(value) || Array.isArray(value)) return value as JsonObject
  throw new InvoiceError('it is not a page of JSON: pages are objects with a list "data"')
}

function asWritten(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value
}
