const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id of a person, a program, a team or a key as it is kept: some libraries write it in capitals. */
export function ownId(text: string): string {
  return UUID.test(text) ? text.toLowerCase() : text
}
