import { Type } from 'model-gateway/plugin'

const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

/** An id in a path, a query or a body. */
export const Id = Type.String({ pattern: UUID.source, errorMessage: 'must be an id' })

/** The id of a person, program, team or key as stored: some libraries write it in upper case. */
export function ownId(text: string): string {
  return UUID.test(text) ? text.toLowerCase() : text
}

/** Smaller than each UUIDv7 of this millisecond, and greater than all earlier ones. */
export function firstId(at: Date): string {
  const ms = Math.min(Math.max(at.getTime(), 0), 0xffff_ffff_ffff)
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
