import { gunzipSync, inflateSync } from 'node:zlib'
import type { ProgramToken } from './program-tokens.ts'
import { spend } from './work.ts'

const mostDecodings = 24
const shortest = 4

/** Whether a program converts something else to text, and how. */
const decoders =
  /b64|base64|base32|hex|chr\b|char|bytes|pack|rot_?13|revers|strrev|::-1|atob|decode|Buffer|unescape|unquote|zlib|gzip|gzinflate|decompress|inflate|join|format|%s|\.replace|translate|concat|Uint8Array/i

/** The texts that a program's literals may become when it decodes, joins or fills them. */
export function decodings(source: string, tokens: readonly ProgramToken[]): readonly string[] {
  spend(source.length)
  if (!decoders.test(source)) return []
  const strings = tokens.flatMap(({ kind, text }) => (kind === 'string' ? [text] : []))
  const found = new Set<string>()
  const add = (text: string) => {
    if (found.size < mostDecodings && text.length >= shortest && isText(text)) found.add(text)
  }
  const reverses = /revers|strrev|::-1/i.test(source)
  const rotates = /rot_?13/i.test(source)
  for (const text of strings) {
    if (text.length < shortest) continue
    if (reverses) add([...text].reverse().join(''))
    if (rotates) add(rot13(text))
    for (const each of decoded(text)) add(each)
  }
  for (const text of numberLists(source)) add(text)
  for (const text of joinedLists(tokens)) add(text)
  if (strings.length > 1 && strings.length < 64) {
    for (const [at, text] of strings.entries())
      if (/%s|\{\d*\}/.test(text)) add(filled(text, strings, at))
  }
  return [...found]
}

function isText(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if ((c < 32 && c !== 9 && c !== 10 && c !== 13) || c > 126) return false
  }
  return true
}

function* decoded(text: string): Generator<string> {
  if (/%[0-9a-f]{2}/i.test(text)) yield percent(text)
  const bare = text.replace(/[\s:]+|\\x|0x/g, '')
  if (/^(?:[0-9a-f]{2})+$/i.test(bare)) yield Buffer.from(bare, 'hex').toString('latin1')
  if (bare.length < 8 || !/^[\w+/=-]+$/.test(bare)) return
  const bytes = Buffer.from(bare, 'base64')
  const once = bytes.toString('latin1')
  yield once
  yield inflated(bytes)
  if (/^[\w+/=-]{8,}$/.test(once)) yield Buffer.from(once, 'base64').toString('latin1')
}

function inflated(bytes: Buffer): string {
  if (bytes[0] !== 0x78 && bytes[0] !== 0x1f) return ''
  spend(4096)
  try {
    const limit = { maxOutputLength: 65_536 }
    return (bytes[0] === 0x78 ? inflateSync(bytes, limit) : gunzipSync(bytes, limit)).toString()
  } catch {
    return ''
  }
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const code = letter.charCodeAt(0)
    return String.fromCharCode((code & 31) <= 13 ? code + 13 : code - 13)
  })
}

function percent(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** `[114, 109]`, and `chr(114) + chr(109)`. */
function* numberLists(source: string): Generator<string> {
  const number = '(?:0x[0-9a-f]+|\\d{1,3})'
  for (const [list] of source.matchAll(new RegExp(`${number}(?:\\s*,\\s*${number})+`, 'gi')))
    yield characters(list.split(','))
  const calls = [...source.matchAll(/(?:chr|char|fromCharCode)\s*\(?\s*(0x[0-9a-f]+|\d{1,3})\b/gi)]
  if (calls.length > 1) yield characters(calls.map(([, code = '']) => code))
}

function characters(codes: readonly string[]): string {
  return String.fromCharCode(...codes.slice(0, 4096).map(Number))
}

/** `' '.join(['rm', '-r'])`, `['rm', '-r'].join(' ')`, `join(' ', 'rm', '-r')`. */
function* joinedLists(tokens: readonly ProgramToken[]): Generator<string> {
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'name' || !/(?:^|\.)(?:join|concat)$/.test(text)) continue
    spend(2 * tokens.length)
    const list =
      tokens[at - 1]?.text === ']'
        ? tokens.slice(tokens.findLastIndex((each, i) => i < at && each.text === '[') + 1, at)
        : tokens.slice(
            at + 1,
            tokens.findIndex((each, i) => i > at && /^[\])]$/.test(each.text)),
          )
    const strings = list.flatMap((each) => (each.kind === 'string' ? [each.text] : []))
    if (strings.length < 2) continue
    yield strings.join(' ')
    yield strings.join('')
    yield strings.slice(1).join(strings[0])
  }
}

function filled(text: string, strings: readonly string[], at: number): string {
  let next = at
  return text.replace(/%s|\{\d*\}/g, (place) => strings[++next] ?? place)
}

/** The source with `chr(114)` replaced by its character. */
export function withCharacters(source: string): string {
  spend(source.length >> 3)
  if (!/chr|fromCharCode/i.test(source)) return source
  return source.replace(/\b(?:chr|String\.fromCharCode)\((\d{2,3})\)/gi, (call, code: string) => {
    const character = String.fromCharCode(Number(code))
    return /[\w ./-]/.test(character) ? `'${character}'` : call
  })
}
