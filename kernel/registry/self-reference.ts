import * as typebox from '@sinclair/typebox'
import * as contract from '../plugin/index.ts'
import * as wire from '../wire/index.ts'

const registered = new Set<string>()

/**
 * Makes `model-gateway/plugin`, `model-gateway/wire` and the contracts of plugins importable from
 * anywhere: by a plugin in a single file that has no package next to it, and in a compiled binary. All
 * get the same classes, so `instanceof` holds. So it is with TypeBox, which a plugin may leave
 * uninstalled; the schemas of all are one library's.
 */
export function registerSelfReference(
  plugins: readonly Pick<contract.Plugin, 'contracts'>[] = [],
): void {
  const modules: Record<string, object> = Object.assign(
    {
      'model-gateway/plugin': contract,
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
