/** Whether a model key contains `*` and so matches other names. */
export function isWildcard(name: string): boolean {
  return name.includes('*')
}

/** Whether a model key equals a name or is a wildcard that matches it. */
export function covers(key: string, name: string): boolean {
  const at = key.indexOf('*')
  if (at < 0) return key === name
  const [before, after] = [key.slice(0, at), key.slice(at + 1)]
  return (
    name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after)
  )
}

/** The callable names of models; for wildcards only the known ones. */
export function listedNames(
  models: readonly { readonly model_key: string; readonly names: readonly string[] }[],
): readonly string[] {
  return models.flatMap(({ model_key, names }) => (isWildcard(model_key) ? names : [model_key]))
}
