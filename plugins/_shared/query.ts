import { GatewayError, Type } from 'model-gateway/plugin'
import { instantOf } from './instant.ts'

/** A text query parameter. */
export function invalidQuery(name: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `query ${name}: ${message}`)
}

/** Text that a column can store. */
export const filterText = (description: string, maxLength = 512) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      description,
      errorMessage: `must be 1 to ${maxLength} characters without control characters`,
    }),
  )

const instant = (description: string) =>
  Type.Optional(Type.String({ description, examples: ['2026-11-21T00:00:00Z'] }))

/** The time range of a list. */
export const periodQuery = {
  occurred_at_start: instant('From this time on.'),
  occurred_at_end: instant('Before this time.'),
}

export interface Period {
  /** Inclusive. */
  readonly start: Date | undefined
  /** Exclusive. */
  readonly end: Date | undefined
}

/** Throws `invalid_request` for an invalid time, and for an end that is not after the start. */
export function readPeriod(query: {
  readonly occurred_at_start?: string
  readonly occurred_at_end?: string
}): Period {
  const start = readInstant('occurred_at_start', query.occurred_at_start)
  const end = readInstant('occurred_at_end', query.occurred_at_end)
  if (start !== undefined && end !== undefined && start >= end) {
    throw invalidQuery('occurred_at_end', 'must be after occurred_at_start')
  }
  return { start, end }
}

function readInstant(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const at = instantOf(text)
  if (at !== undefined) return at
  throw invalidQuery(name, 'must be a valid RFC 3339 time, such as 2026-11-21T00:00:00Z')
}
