/** Instants of the API, as its schemas say. */
export const INSTANT_PATTERN =
  '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:\\d{2})$'

const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i

/** The instant of a column as the API has it. */
export function instantSql(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The instant of a text as RFC 3339 has it; undefined for one that the calendar does not have. */
export function instantOf(text: string): Date | undefined {
  const day = INSTANT.exec(text)?.[1]
  const at = new Date(text)
  return day !== undefined && isDay(day) && isKept(at) ? at : undefined
}

/** The beginning of a day in UTC, of `2026-11-21`; undefined for one that the calendar does not have. */
export function dayOf(text: string): Date | undefined {
  const at = new Date(`${text}T00:00:00Z`)
  return isDay(text) && isKept(at) ? at : undefined
}

/** A day that its month does not have is another one to the parser, or none. */
function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text
}

/** Whether a database has it, and the days around it: there is no year 0, nor one of five digits. */
function isKept(at: Date): boolean {
  const year = at.getUTCFullYear()
  return year >= 1 && year <= 9998
}
