import type { Problem, ProviderTypeSpec } from '../plugin/index.ts'
import type { LoadedPlugin } from './loaded.ts'

export interface RuleParts {
  readonly plugins: readonly LoadedPlugin[]
  /** Whether the file has a top-level section of this name. */
  hasSection(name: string): boolean
  /** The type of each provider of the file. */
  readonly providerTypes: readonly (ProviderTypeSpec | undefined)[]
}

/** Checks that nothing else in the config needs a plugin with `on_boot_failure: disable`. */
export function* checkPluginRules(parts: RuleParts): Iterable<Problem> {
  for (const loaded of parts.plugins) {
    const { plugin, path } = loaded
    const { id } = plugin.manifest
    if (loaded.onBootFailure !== 'disable') continue
    for (const use of dependants(loaded, parts)) {
      yield {
        path: [...path, 'on_boot_failure'],
        message: `plugin "${id}" cannot be optional: ${use}`,
        hint: 'remove on_boot_failure; the gateway then does not start without the plugin',
      }
    }
  }
}

/** What in the config depends on a plugin. Policies are checked by their own plugin. */
function* dependants({ plugin }: LoadedPlugin, parts: RuleParts): Iterable<string> {
  const { id, sections = [], providerTypes = [] } = plugin.manifest
  for (const { name } of sections) {
    // The plugin owns its keys, not the section.
    if (name !== 'server' && parts.hasSection(name)) yield `the config has its section ${name}`
  }
  for (const [index, type] of parts.providerTypes.entries()) {
    if (type !== undefined && providerTypes.includes(type)) {
      yield `providers[${index}] has its type ${type.type}`
    }
  }
  for (const { plugin: other, onBootFailure } of parts.plugins) {
    if (onBootFailure !== 'disable' && other.manifest.requires?.includes(id)) {
      yield `plugin "${other.manifest.id}" requires it`
    }
  }
}
