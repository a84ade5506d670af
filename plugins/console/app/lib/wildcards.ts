/** Names of models that hold a `*` stand for others, which can be typed. */
export function isWildcard(name: string): boolean {
  return name.includes('*')
}

/** Whether a model key is a name, or a wildcard that covers it. */
export function covers(key: string, name: string): boolean {
  const at = key.indexOf('*')
  if (at < 0) return key === name
  const [before, after] = [key.slice(0, at), key.slice(at + 1)]
  return (
    name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after)
  )
}

/** The names under which models can be asked for, as far as they can be listed. */
export function listedNames(
  models: readonly { readonly model_key: string; readonly names: readonly string[] }[],
): readonly string[] {
  return models.flatMap(({ model_key, names }) => (isWildcard(model_key) ? names : [model_key]))
}
