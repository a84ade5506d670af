import type { RequestTags } from '../plugin/exchange.ts'
import { invalid } from '../wire/invalid.ts'

const KEY = /^[a-z][a-z0-9._-]{0,31}$/
const VALUE = /^[a-z0-9._\-/:]{1,64}$/
const MOST_TAGS = 5

/** Tags with a separate header and database column. */
const UNIVERSAL = ['service', 'component', 'env'] as const

export const noTags: RequestTags = {
  service: undefined,
  component: undefined,
  env: undefined,
  custom: [],
}

/** Reads the tags of a request from its `x-gateway-…` headers. Throws `invalid_request`. */
export function readTags(header: (name: string) => string | null): RequestTags {
  const service = readUniversal(header, 'service')
  const component = readUniversal(header, 'component')
  const env = readUniversal(header, 'env')
  const list = header('x-gateway-tags')
  if (list === null && (service ?? component ?? env) === undefined) return noTags
  return { service, component, env, custom: list === null ? [] : readList(list) }
}

function readUniversal(header: (name: string) => string | null, name: (typeof UNIVERSAL)[number]) {
  const value = header(`x-gateway-${name}`)
  if (value === null) return undefined
  return checkValue(`x-gateway-${name}`, value)
}

function readList(list: string): RequestTags['custom'] {
  const tags: { key: string; value: string }[] = []
  const parts = list.split(';').map((part) => part.trim())
  // A semicolon may end the list.
  if (parts.at(-1) === '') parts.pop()
  for (const [index, text] of parts.entries()) {
    if (text === '') {
      throw invalid(`x-gateway-tags: tag ${index + 1} is empty; write k=v; k2=v2`)
    }
    const at = text.indexOf('=')
    if (at === -1) throw invalid(`x-gateway-tags: '${shorten(text)}' must have the form key=value`)
    const key = text.slice(0, at).trim()
    const value = checkValue(`x-gateway-tags: '${shorten(key)}'`, text.slice(at + 1).trim())
    if (!KEY.test(key)) {
      throw invalid(
        `x-gateway-tags: the key '${shorten(key)}' must be 1 to 32 characters of a-z 0-9 . _ -, beginning with a-z`,
      )
    }
    if (UNIVERSAL.some((name) => name === key)) {
      throw invalid(`x-gateway-tags: '${key}' is set by its own header, x-gateway-${key}`)
    }
    if (tags.some((tag) => tag.key === key)) {
      throw invalid(`x-gateway-tags: '${key}' is listed twice`)
    }
    tags.push({ key, value })
  }
  if (tags.length > MOST_TAGS) throw invalid(`x-gateway-tags: at most ${MOST_TAGS} tags`)
  return tags
}

function checkValue(what: string, value: string): string {
  if (VALUE.test(value)) return value
  throw invalid(`${what}: the value must be 1 to 64 characters of a-z 0-9 . _ - / :`)
}
function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`
}
