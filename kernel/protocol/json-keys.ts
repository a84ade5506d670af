import { skipSpace, stringEnd, visitJson } from '../plugin/json-text.ts'

const QUOTE = 34
const COLON = 58
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

/**
 * A key that an object has twice: parsers do not agree on which one counts. Looks at the object
 * that begins at `at` alone. The text must be valid JSON.
 */
export function repeatedKey(text: string, at: number): string | undefined {
  const keys = new Set<string>()
  let repeated: string | undefined
  if (text.charCodeAt(at) !== OPEN_BRACE) return undefined
  visitJson(text, at, (key) => {
    if (keys.has(key as string)) repeated ??= key as string
    keys.add(key as string)
  })
  return repeated
}

/** As `repeatedKey`, of the value that begins at `at` and all that is in it. One pass, any depth. */
export function repeatedKeyWithin(text: string, at: number): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (let i = skipSpace(text, at); i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const end = stringEnd(text, i)
      if (text.charCodeAt(skipSpace(text, end)) === COLON) {
        const key = JSON.parse(text.slice(i, end)) as string
        const keys = open.at(-1)
        if (keys?.has(key)) return key
        keys?.add(key)
      }
      i = end - 1
    } else if (code === OPEN_BRACE) open.push(new Set())
    else if (code === OPEN_BRACKET) open.push(undefined)
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open.pop()
    if (open.length === 0) return undefined
  }
  return undefined
}
