/** An id in a path or a body, as schemas have it. */
export const ID_PATTERN =
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id of a person, a program, a team or a key as it is kept: some libraries write it in capitals. */
export function ownId(text: string): string {
  return UUID.test(text) ? text.toLowerCase() : text
}
