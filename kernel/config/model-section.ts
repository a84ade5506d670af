import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { features } from '../plugin/index.ts'
import { droppedMembers, extraMembers, flagRules, headerNames } from './rules.ts'
import { withRule } from './variants.ts'

export const name = (description: string) => Type.String({ minLength: 1, description })
const headerValue = Type.String({
  pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
  description: 'header values must not contain line breaks or other control characters',
})
export const headers = (description: string) =>
  withRule(Type.Record(Type.String(), headerValue, { default: {}, description }), headerNames)

function capabilitiesSchema(dialects: readonly string[]) {
  const flag = Type.Boolean({
    default: true,
    description: 'false: calls that need it use other routes',
  })
  const flags = [...dialects, ...features]
  const schema = Type.Object(Object.fromEntries(flags.map((name) => [name, flag])), {
    default: {},
    description: 'Features that calls may use on this route, where its provider supports them',
    // A plugin that is not loaded may define more flags.
    additionalProperties: true,
  })
  return Type.Unsafe<Record<string, boolean>>(withRule(schema, flagRules(flags)))
}

/** The fields of a route except `compatibility`, which its provider type defines. */
export const routeFields = (dialects: readonly string[]) => ({
  provider: name('The id of a provider'),
  upstream_model: name('The name of the model at the provider'),
  priority: Type.Integer({ default: 100, description: 'The lowest number is used first' }),
  weight: Type.Number({
    default: 1,
    description: 'Share of the calls among routes of the same priority; 0 or less: never used',
  }),
  enabled: Type.Boolean({ default: true, description: 'false: the route is not used' }),
  capabilities: capabilitiesSchema(dialects),
  extra_headers: headers("Sent with each call; overrides the provider's default_headers"),
  extra_body: withRule(
    Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description: 'Merged into the upstream request body, whose members it overrides',
    }),
    extraMembers,
  ),
  drop_params: Type.Optional(
    withRule(
      Type.Array(name('A member of the request body'), {
        description: 'Members to remove from requests; replies list them in `x-gateway-dropped`',
      }),
      droppedMembers,
    ),
  ),
  unsupported_params: Type.Optional(
    Type.Union([Type.Literal('drop'), Type.Literal('reject')], {
      description:
        'Members that the upstream does not support: drop removes them, reject refuses the call. Default: members that change the answer are refused, others are removed',
    }),
  ),
})
export const routeKeys = [...Object.keys(routeFields([])), 'compatibility']
const Route = Type.Object({
  ...routeFields([]),
  compatibility: Type.Record(Type.String(), Type.Unknown()),
})
export type RouteEntry = Static<typeof Route>

export function modelSchema<R extends TSchema>(route: R) {
  return Type.Object({
    id: name('The model name that callers send'),
    description: Type.Optional(Type.String({ description: 'Shown in the list of models' })),
    tags: Type.Array(
      Type.String({
        pattern: '^[^,\\s]+$',
        description: 'a tag must not contain commas or spaces, because tag:a,b selects by two tags',
      }),
      {
        default: [],
        description: 'A call for `tag:NAME` uses one of the models with the tag',
      },
    ),
    rank: Type.Integer({
      default: 100,
      description: 'Among models with the same tag, the lowest number is used first',
    }),
    routes: Type.Optional(Type.Array(route)),
    alias_of: Type.Optional(name('The model that this name is an alias of, instead of routes')),
    allowlist: Type.Optional(
      Type.Object({
        users: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'Emails of users who may use the model',
        }),
        teams: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'Keys of teams whose members may use the model',
        }),
      }),
    ),
  })
}
export const modelKeys = Object.keys(modelSchema(Route).properties)
export type ModelEntry = Static<ReturnType<typeof modelSchema<typeof Route>>>
