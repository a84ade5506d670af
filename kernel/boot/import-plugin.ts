import type { Plugin } from '../plugin/index.ts'
import { asPlugin } from '../registry/plugin-shape.ts'
import { registerSelfReference } from '../registry/self-reference.ts'

/** Functions that import the built-in plugins, by the name after `builtin:`. */
export type BuiltinImports = Readonly<Record<string, () => Promise<{ readonly default: unknown }>>>

/**
 * Imports the plugin of a module (`builtin:NAME` or a path) in a worker thread, where it can import
 * `contracts`. Throws if the module does not export a plugin.
 */
export async function importPlugin(
  module: string,
  builtins: BuiltinImports,
  contracts: NonNullable<Plugin['contracts']>,
): Promise<Plugin> {
  registerSelfReference([{ contracts }])
  const name = module.startsWith('builtin:') ? module.slice('builtin:'.length) : undefined
  const imported: { readonly default?: unknown } =
    name === undefined ? await import(module) : await builtins[name]?.()
  const found = asPlugin(imported?.default)
  if ('fault' in found) throw new Error(`${module} ${found.fault}`)
  return found.plugin
}
