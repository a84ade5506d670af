const MAX_TEXT = 512
const UNSAFE = /[\0\ud800-\udfff]/

/** One text that Postgres refuses would make the whole batch fail: no NUL, no half character. */
export function safeText(text: string): string {
  const capped = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text
  return UNSAFE.test(capped) ? capped.replaceAll('\0', '').toWellFormed() : capped
}
