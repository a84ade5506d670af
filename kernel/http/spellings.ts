/**
 * The paths under which `path` is there: half of the clients add the version to the base URL by
 * themselves, and half do not, so that one under `/v1` is there without it and with it twice.
 */
export function spellings(path: string): readonly string[] {
  const rest = /^\/v1(\/.*)$/.exec(path)?.[1]
  return rest === undefined ? [path] : [path, rest, `/v1${path}`]
}

/** The other spellings of paths, but for those that are paths themselves: `GET /models`. */
export function otherSpellings(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const taken = new Set(paths)
  return new Map(
    paths.map((path) => [path, spellings(path).filter((other) => !taken.has(other))] as const),
  )
}
