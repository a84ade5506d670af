/** Maximum number of cached config versions; fewer are active at once. */
const REMEMBERED = 16

/** A value for each config version, because a request keeps the config that it started with. */
export interface ConfigVersions<T> {
  accept(configVersion: string, made: T): void
  /** The latest value for an unknown version. */
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
