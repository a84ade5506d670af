/** Names that may contain one `*`, which matches any text: `openai/*`. */
export interface NameList {
  /**
   * The entry for a name: the same name, else the wildcard with the longest text around its `*`.
   * `part` is what `*` matched; undefined for an exact entry.
   */
  find(name: string): { readonly entry: string; readonly part: string | undefined } | undefined
}

interface Wildcard {
  readonly entry: string
  readonly before: string
  readonly after: string
}

/** Whether a name contains a `*`. */
export function isWildcard(name: string): boolean {
  return name.includes('*')
}

/** Replaces the `*` of another text by what the first matched. */
export function fillWildcard(text: string, part: string): string {
  return text.replace('*', () => part)
}

export function createNameList(names: Iterable<string>): NameList {
  const exact = new Set(names)
  const wildcards = [...exact]
    .filter(isWildcard)
    .map((entry): Wildcard => {
      const at = entry.indexOf('*')
      return { entry, before: entry.slice(0, at), after: entry.slice(at + 1) }
    })
    // Of two equally long ones, the one with the longer prefix.
    .sort((a, b) => b.entry.length - a.entry.length || b.before.length - a.before.length)
  return {
    find(name) {
      if (exact.has(name)) return { entry: name, part: undefined }
      for (const { entry, before, after } of wildcards) {
        const isShort = name.length <= before.length + after.length
        if (isShort || !name.startsWith(before) || !name.endsWith(after)) continue
        return { entry, part: name.slice(before.length, name.length - after.length) }
      }
      return undefined
    },
  }
}
