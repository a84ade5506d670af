import type { Fields } from '../config/fields.ts'
import {
  accounting,
  accountingSinks,
  boundRouteListeners,
  commands,
  type ExtensionPoint,
  exchangeRecorders,
  guard,
  guardrailPacks,
  healthChecks,
  httpRouteLists,
  httpRoutes,
  identity,
  isolation,
  managedCheckKinds,
  middleware,
  nameOfDeclared,
  observers,
  type Plugin,
  pricingSource,
  providerFactories,
  snapshotListeners,
  welcome,
} from '../plugin/index.ts'
import type { Provision } from './context.ts'
import { middlewareFault } from './middleware-shape.ts'
import { phaseFault } from './plugin-shape.ts'
import type { Provided } from './registry.ts'

/** What the kernel calls at each point. */
const functionsOf = new Map<ExtensionPoint<unknown>, readonly string[]>([
  [accounting, ['checkOwner', 'admit', 'settle', 'abortDrainMs']],
  [accountingSinks, ['record']],
  [boundRouteListeners, ['inForce']],
  [commands, ['run']],
  [exchangeRecorders, ['record']],
  [guard, ['compile']],
  [guardrailPacks, ['evaluate', 'explain']],
  [healthChecks, ['check']],
  [httpRouteLists, ['routes']],
  [httpRoutes, ['handle']],
  [identity, ['authenticate', 'directory', 'onChange']],
  [isolation, ['setup']],
  [managedCheckKinds, ['create']],
  [observers, ['observe']],
  [pricingSource, ['resolve']],
  [providerFactories, ['create']],
  [snapshotListeners, ['prepare']],
  [welcome, ['lines']],
])

/** What names an implementation, where one has a name. */
const namesOf = new Map<ExtensionPoint<unknown>, readonly string[]>([
  [commands, ['name']],
  [guardrailPacks, ['id', 'version']],
  [healthChecks, ['name']],
  [httpRoutes, ['method', 'path']],
  [managedCheckKinds, ['kind']],
  [providerFactories, ['type']],
])

/** What keeps a value from being an implementation of a point; `undefined` when nothing does. */
export function implementationFault(
  point: ExtensionPoint<unknown>,
  value: unknown,
): string | undefined {
  if (point === middleware) {
    const fault = middlewareFault(value)
    const { id } = (value ?? {}) as Fields
    return fault && `the middleware ${typeof id === 'string' ? `"${id}" ` : ''}${fault}`
  }
  const functions = functionsOf.get(point)
  const names = namesOf.get(point)
  if (functions === undefined && names === undefined) return point.fault?.(value)
  if (typeof value !== 'object' || value === null) return `${point.name}: it is no object`
  const fields = value as Fields
  for (const name of names ?? []) {
    if (typeof fields[name] !== 'string') return `${point.name}: it has no ${name}`
  }
  for (const name of functions ?? []) {
    if (typeof fields[name] !== 'function') return `${point.name}: it has no function ${name}`
  }
  if (point === guardrailPacks) {
    const fault = packFault(fields)
    return fault && `the pack "${String(fields.id)}" ${fault}`
  }
  return undefined
}

function packFault({ phases, rules }: Fields): string | undefined {
  if (!Array.isArray(phases)) return 'has no list of phases'
  if (!Array.isArray(rules)) return 'has no list of rules'
  return phaseFault(phases)
}

/** Of two with one claim, the later would hide the earlier, without a word. */
export function checkClaims(
  id: string,
  provisions: readonly Provision[],
  others: (point: ExtensionPoint<unknown>) => readonly Provided<unknown>[],
): void {
  const owners = new Map<string, string>()
  for (const { point } of provisions) {
    for (const { plugin, implementation } of others(point)) {
      for (const claim of point.claims?.(implementation) ?? []) owners.set(claim, plugin)
    }
  }
  for (const { point, implementation } of provisions) {
    for (const claim of point.claims?.(implementation) ?? []) {
      const owner = owners.get(claim)
      if (owner !== undefined) {
        throw new Error(`provides ${claim}, which plugin "${owner}" provides already`)
      }
      owners.set(claim, id)
    }
  }
}

/** What a manifest declares has to be provided, once each, and nothing else. */
export function checkDeclared({ manifest }: Plugin, provisions: readonly Provision[]): void {
  const named = (point: ExtensionPoint<unknown>, key: string) =>
    provisions
      .filter((one) => one.point.name === point.name)
      .map(({ implementation }) => (implementation as Fields)[key] as string)
  const { declares = [] } = manifest
  const points = new Set([...declares, ...provisions].map(({ point }) => point))
  const checks = [
    {
      what: 'provider type',
      declared: (manifest.providerTypes ?? []).map(({ type }) => type),
      made: named(providerFactories, 'type'),
      as: 'a factory',
    },
    {
      what: 'guardrail pack',
      declared: (manifest.guardrailPacks ?? []).map(({ id }) => id),
      made: named(guardrailPacks, 'id'),
      as: 'the pack',
    },
    {
      what: 'managed check',
      declared: (manifest.managedChecks ?? []).map(({ kind }) => kind),
      made: named(managedCheckKinds, 'kind'),
      as: 'a factory',
    },
    {
      what: 'command',
      declared: (manifest.commands ?? [])
        .filter(({ standalone }) => standalone !== true)
        .map(({ name }) => name),
      made: named(commands, 'name'),
      as: 'what it does',
    },
    ...[...points].flatMap((point) =>
      point.declared === undefined
        ? []
        : {
            what: point.declared.what,
            declared: declares.filter((one) => one.point === point).map(nameOfDeclared),
            made: named(point, point.declared.key),
            as: 'its implementation',
          },
    ),
  ]
  for (const { what, declared, made, as } of checks) {
    for (const name of declared) {
      if (!made.includes(name)) throw new Error(`declares ${what} "${name}" without ${as}`)
    }
    for (const [index, name] of made.entries()) {
      if (!declared.includes(name)) {
        throw new Error(`provides "${name}", a ${what} that its manifest does not declare`)
      }
      if (made.indexOf(name) !== index) throw new Error(`provides ${what} "${name}" twice`)
    }
  }
}
