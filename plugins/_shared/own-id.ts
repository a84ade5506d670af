import { Type } from 'model-gateway/plugin'

const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/

/** An id in a path, a query or a body. */
export const Id = Type.String({ pattern: UUID.source, errorMessage: 'must be an id' })

/** The id of a person, a program, a team or a key as it is kept: some libraries write it in capitals. */
export function ownId(text: string): string {
  return UUID.test(text) ? text.toLowerCase() : text
}
