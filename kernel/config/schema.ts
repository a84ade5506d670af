import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import {
  KEY_ALIASES,
  MAX_TIMER_MS,
  type Problem,
  type ProviderTypeSpec,
  SecretRef,
} from '../plugin/index.ts'
import { closest, didYouMean } from '../wire/suggest.ts'
import { fieldOf, isFields } from './fields.ts'
import {
  headers,
  type ModelEntry,
  modelKeys,
  modelSchema,
  name,
  type RouteEntry,
  routeFields,
  routeKeys,
} from './model-section.ts'
import { type DeclaredIds, modelListRules, modelRules, uniqueIds } from './rules.ts'
import { ServerSection } from './server-section.ts'
import { AS_WRITTEN, UNKNOWN_KEY_HINT } from './shape.ts'
import { chosenBy, withRule } from './variants.ts'

/** Sections of the kernel; plugins own all others. */
export const kernelSections = ['server', 'database', 'plugins', 'providers', 'models'] as const

const DatabaseSection = Type.Object(
  {
    url: Type.Optional(
      SecretRef({
        description:
          'Postgres 14 or later: postgres://user:password@host:5432/name, as a secret reference or as plain text. Default: the embedded Postgres',
      }),
    ),
  },
  { default: {} },
)

const PluginsSection = Type.Array(
  Type.Object({
    use: name(
      'builtin:NAME, builtin:* for all that are not listed, a path relative to the config file, or npm:NAME',
    ),
    config: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Settings of the plugin, according to its schema',
      }),
    ),
    isolation: Type.Optional(
      Type.Literal('worker', {
        description: 'Guardrail packs of the plugin run in a separate thread',
      }),
    ),
    on_boot_failure: Type.Optional(
      Type.Union([Type.Literal('stop'), Type.Literal('disable')], {
        description: 'disable: the gateway starts without the plugin if that fails. Default: stop',
      }),
    ),
  }),
)

const providerCommon = {
  id: name('The name that routes refer to'),
  type: name('Determines which other fields are allowed'),
  default_headers: headers('Sent with each call'),
  timeouts: Type.Object(
    {
      total_ms: Type.Integer({
        minimum: 1,
        maximum: MAX_TIMER_MS,
        default: 120_000,
        description:
          'Time to the first byte of a streamed reply, or to the last byte of a buffered one',
      }),
      idle_ms: Type.Integer({
        minimum: 1,
        maximum: MAX_TIMER_MS,
        default: 60_000,
        description:
          'Time between two bytes after the first. Time in which the caller does not read is not counted',
      }),
    },
    { default: {} },
  ),
  max_response_bytes: Type.Integer({
    minimum: 1,
    default: 64 * 1024 * 1024,
    description: 'Maximum size of a buffered reply after decompression; a larger one is a 502',
  }),
  pricing_provider_id: Type.Optional(
    name('Price list to use; without it, calls are recorded without a price'),
  ),
}
export const providerCommonKeys = Object.keys(providerCommon)
const ProviderCommon = Type.Object(providerCommon)
export type ProviderEntry = Static<typeof ProviderCommon>

/** The provider types of the loaded plugins. */
export interface ProviderTypes {
  /** Finds a type by name or alias; with `guess`, also by a misspelling. */
  find(type: unknown, guess?: boolean): ProviderTypeSpec | undefined
  /** Names and aliases that a config may use. */
  readonly names: readonly string[]
}

export function providerTypes(
  specs: readonly ProviderTypeSpec[],
  complete: boolean,
): ProviderTypes {
  const known = new Map<string, ProviderTypeSpec>()
  for (const spec of specs) {
    for (const type of [spec.type, ...(spec.aliases ?? [])]) known.set(type, spec)
  }
  return {
    names: [...known.keys()],
    find(type, guess = false) {
      if (typeof type !== 'string') return undefined
      const spec = known.get(type)
      if (spec !== undefined || !guess || !complete) return spec
      return known.get(closest(type, known.keys()) ?? '')
    },
  }
}

function propertiesOf(schema: TSchema): TProperties {
  return isFields(schema.properties) ? (schema.properties as TProperties) : {}
}

/** The schema of `providers`: the common fields and those of each entry's type. */
function providersSchema(types: ProviderTypes, complete: boolean) {
  const common = { ...providerCommon, type: withRule(providerCommon.type, typeFaults) }
  function* typeFaults(type: string): Iterable<Problem> {
    if (!complete || types.find(type) !== undefined) return
    const hint = didYouMean(type, types.names, 'provider types')
    yield { path: [], message: `provider type "${type}" does not exist`, hint }
  }
  const list = Type.Array(
    chosenBy<ProviderEntry>((entry) => {
      const spec = types.find(fieldOf(entry, 'type', providerCommonKeys), true)
      // Without a known type, the other fields cannot be checked.
      if (spec === undefined) return Type.Object(common, { additionalProperties: true })
      const { [KEY_ALIASES]: aliases } = spec.config
      return Type.Object(
        { ...propertiesOf(spec.config), ...common },
        { ...(aliases !== undefined && { [KEY_ALIASES]: aliases }) },
      )
    }),
    { default: [] },
  )
  return withRule(list, uniqueIds)
}

/** Whether a key is not one of the common fields of providers. */
export function isOwnField(key: string): boolean {
  return !providerCommonKeys.includes(key)
}

/** The providers of the file. */
export interface DeclaredProviders extends DeclaredIds {
  /** The type of a provider, by the provider's id. */
  typeOf(provider: unknown): ProviderTypeSpec | undefined
  /** Dialects of the loaded plugins. */
  readonly dialects: readonly string[]
}

function modelsSchema(providers: DeclaredProviders) {
  const fields = routeFields(providers.dialects)
  const route = chosenBy<RouteEntry>((entry) => {
    const compatibility = providers.typeOf(fieldOf(entry, 'provider', routeKeys))?.compatibility
    return Type.Object({
      ...fields,
      compatibility: {
        ...(compatibility ?? Type.Record(Type.String(), Type.Unknown())),
        [AS_WRITTEN]: true,
        default: {},
        description: 'Differences of this upstream; the provider type defines the keys',
      } as TSchema,
    })
  })
  const model = withRule(modelSchema(route), (entry, written) =>
    modelRules(entry, written, modelKeys),
  )
  return withRule(Type.Array(model, { default: [] }), (models, written) =>
    modelListRules(models, written, providers, modelKeys),
  )
}

/** The sections of the kernel in a config file. */
export type RootEntry = {
  readonly server: Static<typeof ServerSection>
  readonly database: Static<typeof DatabaseSection>
  readonly providers: readonly ProviderEntry[]
  readonly models: readonly ModelEntry[]
}

/** The schema of a config file. `hint`: how to get an unknown section or key of `server`. */
export function rootSchema(
  sections: Readonly<Record<string, TSchema>>,
  types: ProviderTypes,
  providers: DeclaredProviders,
  complete: boolean,
  hint: (section: string, key?: string) => string | undefined = () => undefined,
): TSchema {
  // Unknown keys may belong to a plugin that could not be loaded.
  const open = complete ? {} : { additionalProperties: true }
  const properties: Record<string, TSchema> = {
    ...sections,
    server: {
      ...(sections.server ?? ServerSection),
      [UNKNOWN_KEY_HINT]: (key: string) => hint('server', key),
      ...open,
    },
    database: DatabaseSection,
    plugins: Type.Optional(PluginsSection),
    providers: providersSchema(types, complete),
    models: modelsSchema(providers),
  }
  return Type.Object(properties, {
    [UNKNOWN_KEY_HINT]: (name: string) =>
      hint(name) ?? 'no loaded plugin has a section with this name',
    ...open,
  })
}
