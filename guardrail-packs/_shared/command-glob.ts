import type { Word } from './command.ts'
import { spend } from './work.ts'

/** `/bin/r?`: a program by a pattern, which matches files on the machine. */
export function isGlob({ text, quoted }: Word): boolean {
  return !quoted && text.startsWith('/') && isPattern(lastPart(text))
}

/** The names that such a pattern may match. */
export function globbedNames({ text }: Word, names: ReadonlySet<string>): readonly string[] {
  const pattern = lastPart(text).replace(/\*+/g, '*')
  spend(16 + 4 * names.size + pattern.length * 4)
  // Many stars match almost everything, and make a pattern slow.
  if (pattern.split('*').length > 4) return [...names]
  const source = pattern
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
    .replaceAll('[!', '[^')
  try {
    const expression = new RegExp(`^${source}$`, 'i')
    return [...names].filter((name) => expression.test(name))
  } catch {
    return [...names]
  }
}

function isPattern(name: string): boolean {
  const open = name.indexOf('[')
  return /[*?]/.test(name) || (open !== -1 && name.lastIndexOf(']') > open + 1)
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
