/** Config versions that are remembered; more are never served at once. */
const REMEMBERED = 16

/** What was made of each config version: a request keeps the config that it began with. */
export interface ConfigVersions<T> {
  accept(configVersion: string, made: T): void
  /** The latest for a version that is not known. */
  of(configVersion: string): T
  latest(): T
}

export function createConfigVersions<T>(first: T): ConfigVersions<T> {
  const known = new Map<string, T>()
  let latest = first
  return {
    accept(configVersion, made) {
      latest = made
      known.delete(configVersion)
      known.set(configVersion, made)
      for (const oldest of known.keys()) {
        if (known.size <= REMEMBERED) break
        known.delete(oldest)
      }
    },
    of: (configVersion) => known.get(configVersion) ?? latest,
    latest: () => latest,
  }
}
