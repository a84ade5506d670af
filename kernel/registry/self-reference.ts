import * as typebox from '@sinclair/typebox'
import { contracts } from '../plugin/contracts.ts'
import type { Plugin } from '../plugin/index.ts'
import * as wire from '../wire/index.ts'

const registered = new Set<string>()

/**
 * Makes the contract modules, `model-gateway/wire` and the contracts of plugins importable from
 * anywhere: by single-file plugins without a package, and in a compiled binary. All plugins get the
 * same classes, so that `instanceof` works. The same holds for TypeBox, which plugins need not
 * install.
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
