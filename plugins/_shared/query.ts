import { GatewayError, Type } from 'model-gateway/plugin'
import { instantOf } from './instant.ts'

/** A query that its schema cannot refuse. */
export function invalidQuery(name: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `query ${name}: ${message}`)
}

/** Text that a column can hold. */
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

/** Throws `invalid_request` for what is no instant. */
export function readInstant(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const at = instantOf(text)
  if (at !== undefined) return at
  throw invalidQuery(name, 'must be a time of the calendar, such as 2026-11-21T00:00:00Z')
}
