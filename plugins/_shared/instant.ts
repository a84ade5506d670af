/** Instants of the API, as in its schemas. */
export const INSTANT_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$'

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i

/** The instant of a column in API format. */
export function instantSql(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The instant of a text as RFC 3339; undefined for an invalid date. */
export function instantOf(text: string): Date | undefined {
  const day = INSTANT.exec(text)?.[1]
  const at = new Date(text)
  return day !== undefined && isDay(day) && isKept(at) ? at : undefined
}

/** The start of a day in UTC, for `2026-11-21`; undefined for an invalid date. */
export function dayOf(text: string): Date | undefined {
  const at = new Date(`${text}T00:00:00Z`)
  return isDay(text) && isKept(at) ? at : undefined
}

/** The parser reads a day beyond the end of a month as another day, or fails. */
function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text
}

/**
 * Whether Postgres supports it and its neighbouring days: no year 0, and no year with five digits.
 */
function isKept(at: Date): boolean {
  const year = at.getUTCFullYear()
  return year >= 1 && year <= 9998
}
