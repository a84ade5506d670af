import { metrics, trace } from '@opentelemetry/api'
import { Value } from '@sinclair/typebox/value'
import type { Logger } from 'pino'
import { contracts as kernelContracts } from '../plugin/contracts.ts'
import {
  type Capabilities,
  type CapabilityName,
  capabilityNames,
  type ExtensionPoint,
  type Plugin,
  type PluginContext,
  type Provided,
  type Uses,
} from '../plugin/index.ts'
import { PointShape } from './plugin-shape.ts'
import { implementationFault } from './shape.ts'

/** One implementation that a plugin registered. */
export interface Provision {
  readonly point: ExtensionPoint<unknown>
  readonly implementation: unknown
}

/** No loaded plugin provides an implementation that is needed. */
export class MissingServiceError extends Error {
  override readonly name = 'MissingServiceError'
  /** The extension point. */
  readonly point: string
  constructor(point: string) {
    super(`no plugin provides ${point}`)
    this.point = point
  }
}

export interface ContextParts {
  readonly plugin: Plugin
  readonly config: unknown
  readonly log: Logger
  readonly signal: AbortSignal
  readonly offered: Capabilities
  readonly contracted: ReturnType<typeof contractPoints>
  /** The implementations of a point, once all plugins are set up. */
  all(point: ExtensionPoint<unknown>): readonly unknown[]
  /** The same, each with the plugin that provides it. */
  provided(point: ExtensionPoint<unknown>): readonly Provided<unknown>[]
  /** The plugin that already provides a point with one implementation. */
  providerOf(point: ExtensionPoint<unknown>): string | undefined
}

/** An extension point and the module that exports it. */
interface ContractPoint {
  readonly point: unknown
  readonly module: string
}

/**
 * The extension points of the kernel and of plugin contracts, by name. Used to detect bundled
 * copies, which lack the error classes or the rules of the original.
 */
export function contractPoints(plugins: readonly Plugin[]): ReadonlyMap<string, ContractPoint> {
  const modules = Object.entries(
    Object.assign({}, kernelContracts, ...plugins.map(({ contracts }) => contracts)),
  ) as [string, object][]
  return new Map(
    modules.flatMap(([module, exports]) =>
      Object.values(exports)
        .filter((point) => Value.Check(PointShape, point))
        .map((point) => [point.name, { point, module }]),
    ),
  )
}

/** The context that `setup` of a plugin receives. */
export function createContext({
  plugin,
  config,
  log,
  signal,
  offered,
  contracted,
  all,
  provided,
  providerOf,
}: ContextParts) {
  const { id, needs, uses = {}, provides = [] } = plugin.manifest
  const provisions: Provision[] = []
  let open = true

  function provide<T>(point: ExtensionPoint<T>, implementation: T) {
    if (!open) throw new Error(`plugin "${id}" provides ${point.name} after its set-up returned`)
    if (typeof point?.name !== 'string') {
      throw new Error(
        'provides something at a value that is not an extension point: check the name of the import',
      )
    }
    const known = contracted.get(point.name)
    if (known !== undefined && known.point !== point) {
      throw new Error(
        `provides ${point.name} of another copy of ${known.module}: leave that module out of the bundle, or rename the point if it is a new one`,
      )
    }
    const fault = implementationFault(point, implementation)
    if (fault !== undefined) throw new Error(`provides an invalid implementation: ${fault}`)
    if (point.cardinality === 'one') {
      if (!provides.some(({ name }) => name === point.name)) {
        throw new Error(`provides ${point.name}, which is missing in provides of its manifest`)
      }
      const own = provisions.some((one) => one.point.name === point.name)
      const by = own ? id : providerOf(point)
      if (by !== undefined) throw new Error(`${point.name} is already provided by plugin "${by}"`)
    }
    provisions.push({ point, implementation })
  }

  const context = Object.create(refusals(id, needs), {
    ...fields({
      config,
      log,
      meter: metrics.getMeter(id),
      tracer: trace.getTracer(id),
      signal,
      uses: usedBy(uses, all, provided),
      provide,
    }),
    ...fields(Object.fromEntries(needs.map((name) => [name, offered[name]]))),
  })
  return {
    context: Object.freeze(context) as PluginContext<unknown, CapabilityName>,
    provisions,
    /** Ends registration. */
    close() {
      open = false
    },
  }
}

/** One getter function for each point that the plugin uses. */
function usedBy(
  uses: Uses,
  all: ContextParts['all'],
  provided: ContextParts['provided'],
): Readonly<Record<string, () => unknown>> {
  return Object.freeze(
    Object.fromEntries(
      Object.entries(uses).map(([name, used]) => {
        if ('optional' in used) return [name, () => all(used.optional)[0]]
        if ('named' in used) return [name, () => provided(used.named)]
        if (used.cardinality === 'many') return [name, () => all(used)]
        return [name, () => only(used, all(used))]
      }),
    ),
  )
}

/** The only implementation of a point. */
export function only<T>({ name }: ExtensionPoint<T>, implementations: readonly T[]): T {
  if (implementations.length === 0) throw new MissingServiceError(name)
  return implementations[0] as T
}

function fields(values: Readonly<Record<string, unknown>>): PropertyDescriptorMap {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, { value, enumerable: true }]),
  )
}

/** Getters that throw for each capability that is missing in the manifest and say what to add. */
function refusals(id: string, needs: readonly CapabilityName[]): object {
  const refused = capabilityNames.filter((name) => !needs.includes(name))
  return Object.create(
    null,
    Object.fromEntries(
      refused.map((name) => [
        name,
        {
          get(): never {
            throw new Error(
              `uses the capability "${name}", which is missing in its manifest: add '${name}' to needs of plugin "${id}"`,
            )
          },
        },
      ]),
    ),
  )
}
