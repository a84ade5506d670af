import { KindGuard } from '@sinclair/typebox'
import { type Fields, isFields } from '../config/fields.ts'
import {
  CONTRACT,
  capabilityNames,
  type Declaration,
  type DeclarationRules,
  guardPhases,
  type Plugin,
} from '../plugin/index.ts'
import { schemaName } from '../storage/schema-name.ts'

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isListOf = (value: unknown, fits: (part: unknown) => boolean) =>
  value === undefined || (Array.isArray(value) && value.every(fits))

const isSection = (part: unknown) =>
  isFields(part) && isText(part.name) && KindGuard.IsSchema(part.schema)
const isProviderType = (part: unknown) =>
  isFields(part) &&
  isText(part.type) &&
  isListOf(part.aliases, isText) &&
  KindGuard.IsObject(part.config) &&
  KindGuard.IsSchema(part.compatibility)
const isMigration = (part: unknown) => isFields(part) && isText(part.name) && isText(part.sql)
const isPack = (part: unknown) =>
  isFields(part) && isText(part.id) && Array.isArray(part.phases) && isListOf(part.aliases, isText)
const isCheck = (part: unknown) =>
  isFields(part) &&
  isText(part.kind) &&
  Array.isArray(part.phases) &&
  KindGuard.IsSchema(part.config)
const isDeclaration = (part: unknown) =>
  isFields(part) && isFields(part.point) && isFields(part.point.declared) && isFields(part.spec)
const isCommand = (part: unknown) =>
  isFields(part) &&
  isText(part.name) &&
  isText(part.summary) &&
  typeof part.usage === 'string' &&
  [undefined, 'empty'].includes(part.database as undefined)

/** A phase that there is not would never come: what it is to guard would pass, without a word. */
export function phaseFault(phases: readonly unknown[]): string | undefined {
  const unknown = phases.find((phase) => !(guardPhases as readonly unknown[]).includes(phase))
  if (unknown === undefined) return undefined
  return `has the phase "${String(unknown)}", which is none of ${guardPhases.join(', ')}`
}

/** What keeps a module's default export from being a plugin; `undefined` when nothing does. */
function faultOf(value: unknown): string | undefined {
  if (!isFields(value)) return 'has no default export that is a plugin'
  const { manifest, setup } = value
  if (!isFields(manifest) || typeof setup !== 'function') {
    return 'has a default export without manifest and setup'
  }
  if (manifest.contract !== CONTRACT) {
    const named = JSON.stringify(manifest.contract) ?? 'undefined'
    return `was written for contract ${named}; this gateway supports contract ${CONTRACT}`
  }
  if (typeof manifest.id !== 'string' || !/^[a-z0-9-]+\.[a-z0-9-]+$/.test(manifest.id)) {
    const named = JSON.stringify(manifest.id) ?? 'undefined'
    return `has a manifest whose id ${named} is not of the form kind.name, of a-z, 0-9 and hyphens`
  }
  try {
    schemaName(manifest.id)
  } catch (error) {
    return `has a manifest whose id cannot be: ${(error as Error).message}`
  }
  if (!isText(manifest.version)) return 'has a manifest without version'
  if (!isText(manifest.summary)) return 'has a manifest without summary'
  if (!KindGuard.IsSchema(manifest.config)) {
    return 'has a manifest whose config is no schema: make it with strictObject or Type'
  }
  if (!Array.isArray(manifest.needs)) return 'has a manifest whose needs is no list'
  for (const name of manifest.needs as unknown[]) {
    if (!(capabilityNames as readonly unknown[]).includes(name)) {
      return `needs "${String(name)}", which is none of ${capabilityNames.join(', ')}`
    }
  }
  if (manifest.early !== undefined && typeof manifest.early !== 'boolean') {
    return 'has a manifest whose early is neither true nor false'
  }
  if (!isListOf(manifest.after, isText)) return 'has a manifest whose after is no list of ids'
  if (!isListOf(manifest.requires, isText)) {
    return 'has a manifest whose requires is no list of ids'
  }
  if (!isListOf(manifest.sections, isSection)) {
    return 'has a manifest whose sections are not all a name with a schema'
  }
  if (!isListOf(manifest.providerTypes, isProviderType)) {
    return 'has a manifest whose providerTypes do not all have type, config (an object schema) and compatibility'
  }
  if (!isListOf(manifest.migrations, isMigration)) {
    return 'has a manifest whose migrations are not all a name with sql'
  }
  if (!isListOf(manifest.guardrailPacks, isPack)) {
    return 'has a manifest whose guardrailPacks do not all have id and phases'
  }
  if (!isListOf(manifest.managedChecks, isCheck)) {
    return 'has a manifest whose managedChecks do not all have kind, phases and config (a schema)'
  }
  for (const [what, key, parts] of [
    ['guardrail pack', 'id', manifest.guardrailPacks],
    ['managed check', 'kind', manifest.managedChecks],
  ] as const) {
    for (const part of (parts ?? []) as readonly Fields[]) {
      const fault = phaseFault(part.phases as readonly unknown[])
      if (fault !== undefined) return `has a manifest whose ${what} "${part[key]}" ${fault}`
    }
  }
  if (!isListOf(manifest.declares, isDeclaration)) {
    return 'has a manifest whose declares are not all a spec with a point where one is declared'
  }
  for (const { point, spec } of (manifest.declares ?? []) as readonly Declaration[]) {
    const { what, key, fault } = point.declared as DeclarationRules
    if (!isText((spec as Fields)[key])) return `declares an ${what} without ${key}`
    const wrong = fault?.(spec)
    if (wrong !== undefined)
      return `declares the ${what} "${(spec as Fields)[key]}", which ${wrong}`
  }
  if (!isListOf(manifest.commands, isCommand)) {
    return 'has a manifest whose commands do not all have name, summary and usage (and, if any, database: empty)'
  }
  for (const name of ['check', 'isolates'] as const) {
    if (manifest[name] !== undefined && typeof manifest[name] !== 'function') {
      return `has a manifest whose ${name} is no function`
    }
  }
  return undefined
}

/** A default export as a plugin, or what is wrong with it. */
export function asPlugin(value: unknown): { plugin: Plugin } | { fault: string } {
  const fault = faultOf(value)
  return fault === undefined ? { plugin: value as Plugin } : { fault }
}
