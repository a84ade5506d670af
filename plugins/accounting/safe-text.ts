import { storable } from '../_shared/safe-text.ts'

const MAX_TEXT = 512

/** One text that Postgres refuses would make the whole batch fail: no NUL, no half character. */
export function safeText(text: string): string {
  return storable(text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text)
}
