import { OptionalKind, type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { type ProviderTypeSpec, routeFlags, SecretRef } from '../plugin/index.ts'
import { AS_WRITTEN, chosenBy, fieldOf, isFields, UNKNOWN_KEY_HINT } from './shape.ts'
import { closest } from './suggest.ts'

/** The kernel's own sections; all others belong to plugins. */
export const kernelSections = ['server', 'database', 'plugins', 'providers', 'models'] as const

const httpUrl = { pattern: '^https?://[^\\s]+$', description: 'write a URL such as http://host' }
// Without user and password: those belong in OTEL_EXPORTER_OTLP_HEADERS, not in a config file.
const otlpUrl = {
  pattern: '^https?://(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/[^\\s?#]*)?$',
  description: 'write a URL such as http://collector:4318',
}
const name = Type.String({ minLength: 1 })
const headers = Type.Record(
  Type.String(),
  Type.String({
    pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
    description: 'header values have no line breaks or other control characters',
  }),
  { default: {} },
)

const ServerSection = Type.Object(
  {
    bind: Type.String({ default: '127.0.0.1:8080' }),
    log_format: Type.Optional(Type.Union([Type.Literal('pretty'), Type.Literal('json')])),
    max_body_bytes: Type.Integer({ minimum: 1, default: 32 * 1024 * 1024 }),
    body_timeout_ms: Type.Integer({ minimum: 1, default: 30_000 }),
    shutdown_grace_secs: Type.Number({ minimum: 0, default: 30 }),
    public_base_url: Type.Optional(Type.String(httpUrl)),
    ungoverned: Type.Boolean({ default: false }),
    egress_proxy: Type.Optional(Type.String(httpUrl)),
    otel_endpoint: Type.Optional(Type.String(otlpUrl)),
    otel_metrics_endpoint: Type.Optional(Type.String(otlpUrl)),
    // More seconds than a timer can count would make it run all the time.
    otel_export_interval_secs: Type.Number({ minimum: 1, maximum: 86_400, default: 30 }),
    otel_trace_sample_ratio: Type.Number({ minimum: 0, maximum: 1, default: 1 }),
  },
  { default: {} },
)

const DatabaseSection = Type.Object({ url: Type.Optional(SecretRef()) }, { default: {} })

const PluginsSection = Type.Array(
  Type.Object({ use: name, config: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
)

const providerCommon = {
  id: name,
  type: name,
  default_headers: headers,
  timeouts: Type.Object(
    {
      total_ms: Type.Integer({ minimum: 1, default: 120_000 }),
      idle_ms: Type.Integer({ minimum: 1, default: 60_000 }),
    },
    { default: {} },
  ),
  pricing_provider_id: Type.Optional(name),
}
export const providerCommonKeys = Object.keys(providerCommon)
const ProviderCommon = Type.Object(providerCommon)
export type ProviderEntry = Static<typeof ProviderCommon>

const capabilities = Type.Object(
  Object.fromEntries(routeFlags.map((flag) => [flag, Type.Boolean({ default: true })])),
  { default: {} },
)

const routeFields = {
  provider: name,
  upstream_model: name,
  priority: Type.Integer({ default: 100 }),
  weight: Type.Number({ default: 1 }),
  enabled: Type.Boolean({ default: true }),
  capabilities,
  extra_headers: headers,
  extra_body: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
}
const routeKeys = [...Object.keys(routeFields), 'compatibility']
const Route = Type.Object({
  ...routeFields,
  compatibility: Type.Record(Type.String(), Type.Unknown()),
})
export type RouteEntry = Static<typeof Route>

function modelSchema<R extends TSchema>(route: R) {
  return Type.Object({
    id: name,
    description: Type.Optional(Type.String()),
    tags: Type.Array(
      Type.String({
        pattern: '^[^,\\s]+$',
        description: 'a tag has no comma and no space, so that tag:a,b can select it',
      }),
      { default: [] },
    ),
    rank: Type.Integer({ default: 100 }),
    routes: Type.Optional(Type.Array(route)),
    alias_of: Type.Optional(name),
    allowlist: Type.Optional(
      Type.Object({
        users: Type.Array(name, { default: [] }),
        teams: Type.Array(name, { default: [] }),
      }),
    ),
  })
}
export const modelKeys = Object.keys(modelSchema(Route).properties)
export type ModelEntry = Static<ReturnType<typeof modelSchema<typeof Route>>>

/** The provider types that the loaded plugins declare. */
export interface ProviderTypes {
  /** By neutral name and by alias; a near miss when `guess` is set. */
  find(type: unknown, guess?: boolean): ProviderTypeSpec | undefined
  /** Names that a config may use. */
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

/** An entry of `providers`: the common fields and those of its type. */
function providersSchema(types: ProviderTypes) {
  return Type.Array(
    chosenBy<ProviderEntry>((entry) => {
      const spec = types.find(fieldOf(entry, 'type', providerCommonKeys), true)
      // Without a type nothing can be said about the other fields.
      if (spec === undefined) return Type.Object(providerCommon, { additionalProperties: true })
      return Type.Object({ ...propertiesOf(spec.config), ...providerCommon })
    }),
    { default: [] },
  )
}

/** Whether an entry has a field of its type under this name, not one of the common fields. */
export function isOwnField(key: string): boolean {
  return !providerCommonKeys.includes(key)
}

/** `typeOf` tells the type of the provider that a route names. */
function modelsSchema(typeOf: (provider: unknown) => ProviderTypeSpec | undefined) {
  const route = chosenBy<RouteEntry>((entry) => {
    const compatibility = typeOf(fieldOf(entry, 'provider', routeKeys))?.compatibility
    return Type.Object({
      ...routeFields,
      compatibility: {
        ...(compatibility ?? Type.Record(Type.String(), Type.Unknown())),
        [AS_WRITTEN]: true,
        default: {},
      } as TSchema,
    })
  })
  return Type.Array(modelSchema(route), { default: [] })
}

/** The kernel's part of a whole config file. */
export type RootEntry = {
  readonly server: Static<typeof ServerSection>
  readonly database: Static<typeof DatabaseSection>
  readonly plugins?: Static<typeof PluginsSection>
  readonly providers: readonly ProviderEntry[]
  readonly models: readonly ModelEntry[]
}

/** A section's schema as a property of the root: unless optional, an absent section is an empty one. */
export function asRootProperty(schema: TSchema): TSchema {
  if ('default' in schema || OptionalKind in schema) return schema
  if (schema.type === 'array') return { ...schema, default: [] }
  return schema.type === 'object' ? { ...schema, default: {} } : schema
}

/** The schema of a whole config file: the kernel's sections and those of plugins. */
export function rootSchema(
  sections: Readonly<Record<string, TSchema>>,
  types: ProviderTypes,
  typeOf: (provider: unknown) => ProviderTypeSpec | undefined,
  complete: boolean,
): TSchema {
  const properties: Record<string, TSchema> = {
    ...sections,
    server: ServerSection,
    database: DatabaseSection,
    plugins: Type.Optional(PluginsSection),
    providers: providersSchema(types),
    models: modelsSchema(typeOf),
  }
  return Type.Object(properties, {
    [UNKNOWN_KEY_HINT]: 'no loaded plugin has a section of this name',
    // A plugin that could not be loaded may own the section.
    ...(complete ? {} : { additionalProperties: true }),
  })
}
