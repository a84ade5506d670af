import * as typebox from '@sinclair/typebox'
import * as contract from '../plugin/index.ts'
import * as wire from '../wire/index.ts'

let registered = false

/**
 * Makes `model-gateway/plugin` and `model-gateway/wire` importable from anywhere: by a plugin in a
 * single file that has no package beside it, and in a compiled binary. All get the same classes, so
 * `instanceof` holds. So it is with TypeBox, which a plugin may leave uninstalled; the schemas of all are one library's.
 */
export function registerSelfReference(): void {
  if (registered) return
  registered = true
  Bun.plugin({
    name: 'model-gateway/plugin',
    setup(build) {
      build.module('model-gateway/plugin', () => ({ exports: { ...contract }, loader: 'object' }))
      build.module('model-gateway/wire', () => ({ exports: { ...wire }, loader: 'object' }))
      build.module('@sinclair/typebox', () => ({ exports: { ...typebox }, loader: 'object' }))
    },
  })
}
