import type { LoadedConfig } from '../config/loaded.ts'
import type { Lease, Runtime } from '../lifecycle/exchange.ts'
import { effectiveCapabilities, type Instances } from '../registry/instances.ts'
import { createCatalog } from '../routing/catalog.ts'

/** A config with its providers created and all its routes bound. */
export function createRuntime(loaded: LoadedConfig, instances: Instances): Runtime {
  const { snapshot } = loaded
  return {
    configVersion: snapshot.version,
    acceptedAt: new Date(),
    providers: snapshot.providers,
    catalog: createCatalog(snapshot.models, (spec) => {
      const bound = instances.bound.get(spec.id)
      if (bound === undefined) throw new Error(`route ${spec.id} was not bound`)
      return { spec, bound, capabilities: effectiveCapabilities(spec, bound) }
    }),
  }
}

export interface CurrentRuntime {
  /** The runtime in force, kept alive until the lease is released. */
  lease(): Lease
  /** Puts another one into force; the old one is disposed when its last lease is released. */
  replace(runtime: Runtime, dispose: () => Promise<void>): void
  /** Disposes the one in force, when its last lease is released. */
  close(): Promise<void>
}

interface Held {
  readonly runtime: Runtime
  readonly dispose: () => Promise<void>
  readonly disposed: PromiseWithResolvers<void>
  leases: number
  retired: boolean
}

export function createCurrentRuntime(
  first: Runtime,
  disposeFirst: () => Promise<void>,
): CurrentRuntime {
  let held = hold(first, disposeFirst)

  function hold(runtime: Runtime, dispose: () => Promise<void>): Held {
    return { runtime, dispose, disposed: Promise.withResolvers(), leases: 0, retired: false }
  }
  function disposeWhenFree(one: Held): void {
    if (one.retired && one.leases === 0) void one.dispose().then(one.disposed.resolve)
  }
  function retire(one: Held): void {
    one.retired = true
    disposeWhenFree(one)
  }

  return {
    lease() {
      const one = held
      one.leases++
      return {
        runtime: one.runtime,
        release() {
          one.leases--
          disposeWhenFree(one)
        },
      }
    },
    replace(runtime, dispose) {
      const old = held
      held = hold(runtime, dispose)
      retire(old)
    },
    async close() {
      retire(held)
      await held.disposed.promise
    },
  }
}
