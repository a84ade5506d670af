import * as typebox from '@sinclair/typebox'
import { contracts } from '../plugin/contracts.ts'
import type { Plugin } from '../plugin/index.ts'
import * as wire from '../wire/index.ts'

const registered = new Set<string>()

/**
 * Makes the modules of the contract, `model-gateway/wire` and the contracts of plugins importable from
 * anywhere: by a plugin in a single file that has no package next to it, and in a compiled binary. All
 * get the same classes, so `instanceof` holds. So it is with TypeBox, which a plugin may leave
 * uninstalled; the schemas of all are one library's.
 */
export function registerSelfReference(plugins: readonly Pick<Plugin, 'contracts'>[] = []): void {
  const modules: Record<string, object> = Object.assign(
    {
      ...contracts,
      'model-gateway/wire': wire,
      '@sinclair/typebox': typebox,
    },
    ...plugins.map(({ contracts }) => contracts),
  )
  for (const [name, exports] of Object.entries(modules)) {
    if (registered.has(name)) continue
    registered.add(name)
    Bun.plugin({
      name,
      setup(build) {
        build.module(name, () => ({ exports: { ...exports }, loader: 'object' }))
      },
    })
  }
}
