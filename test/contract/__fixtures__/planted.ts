import type { ExtensionPoint } from 'model-gateway/plugin'
import type { AnyPlugin } from '../kit.ts'

/** A fault that somebody could make, and the rule of the kit that has to catch it. */
export interface Planted {
  readonly fault: string
  /** The name of the test that fails. */
  readonly rule: string
  /** Runs the kit over it. */
  run(): void
}

/** The plugin with one of the things that it provides changed. */
export function spoilt<T>(
  plugin: AnyPlugin,
  point: ExtensionPoint<T>,
  change: (implementation: T) => unknown,
): AnyPlugin {
  return {
    ...plugin,
    setup: (ctx) =>
      plugin.setup({
        ...ctx,
        provide(at, implementation) {
          if (at.name !== point.name) return ctx.provide(at, implementation)
          ctx.provide(at, change(implementation as never) as typeof implementation)
        },
      }),
  }
}
