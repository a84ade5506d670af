import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { features } from '../plugin/index.ts'
import { droppedMembers, extraMembers, flagRules, headerNames } from './rules.ts'
import { withRule } from './variants.ts'

export const name = (description: string) => Type.String({ minLength: 1, description })
const headerValue = Type.String({
  pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
  description: 'header values have no line breaks or other control characters',
})
export const headers = (description: string) =>
  withRule(Type.Record(Type.String(), headerValue, { default: {}, description }), headerNames)

function capabilitiesSchema(dialects: readonly string[]) {
  const flag = Type.Boolean({
    default: true,
    description: 'false: calls that need it go to other routes',
  })
  const flags = [...dialects, ...features]
  const schema = Type.Object(Object.fromEntries(flags.map((name) => [name, flag])), {
    default: {},
    description: 'What the route can be asked to do, as far as its provider can',
    // A plugin that is not loaded may know more of them.
    additionalProperties: true,
  })
  return Type.Unsafe<Record<string, boolean>>(withRule(schema, flagRules(flags)))
}

/** The fields of a route but `compatibility`, which is its provider's. */
export const routeFields = (dialects: readonly string[]) => ({
  provider: name('The id of a provider'),
  upstream_model: name('What the provider calls the model'),
  priority: Type.Integer({ default: 100, description: 'The lowest goes first' }),
  weight: Type.Number({
    default: 1,
    description: 'The share within one priority; 0 or less is never taken',
  }),
  enabled: Type.Boolean({ default: true, description: 'false: as if it were not there' }),
  capabilities: capabilitiesSchema(dialects),
  extra_headers: headers("Sent with each call, after the provider's default_headers"),
  extra_body: withRule(
    Type.Record(Type.String(), Type.Unknown(), {
      default: {},
      description: 'Merged over the body that goes upstream',
    }),
    extraMembers,
  ),
  drop_params: Type.Optional(
    withRule(
      Type.Array(name('A member'), {
        description: 'Members of requests that this route is not sent; callers are told of them',
      }),
      droppedMembers,
    ),
  ),
  unsupported_params: Type.Optional(
    Type.Union([Type.Literal('drop'), Type.Literal('reject')], {
      description:
        'What becomes of members for which the upstream has no place: drop leaves out all of them, reject refuses the call. By default those that change the answer are refused, and others are left out',
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
    id: name('What callers write'),
    description: Type.Optional(Type.String({ description: 'For the list of models' })),
    tags: Type.Array(
      Type.String({
        pattern: '^[^,\\s]+$',
        description: 'a tag has no comma and no space, so that tag:a,b can select it',
      }),
      {
        default: [],
        description: 'A call for `tag:NAME` gets one of the models that have the tag',
      },
    ),
    rank: Type.Integer({
      default: 100,
      description: 'The lowest goes first among the models of a tag',
    }),
    routes: Type.Optional(Type.Array(route)),
    alias_of: Type.Optional(name('Another model, in the place of routes')),
    allowlist: Type.Optional(
      Type.Object({
        users: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'Emails of those who may use it',
        }),
        teams: Type.Array(Type.String({ minLength: 1 }), {
          default: [],
          description: 'Keys of teams whose members may',
        }),
      }),
    ),
  })
}
export const modelKeys = Object.keys(modelSchema(Route).properties)
export type ModelEntry = Static<ReturnType<typeof modelSchema<typeof Route>>>
