import { configSection, SecretRef, type Static, Type } from 'model-gateway/plugin'
import { Budget } from '../_shared/budget-schema.ts'
import { oneOf } from '../_shared/schema.ts'
import { McpServers } from './_shared/fields.ts'

const strict = { additionalProperties: false }
const name = Type.String({ minLength: 1, maxLength: 200, description: 'For people' })
const key = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description: 'Lower-case letters, digits, dots, dashes and underscores',
})
const email = Type.String({
  pattern: '^[^@\\s]+@[^@\\s]+$',
  maxLength: 320,
  description: 'An email address',
})

const ModelAccess = Type.Object(
  {
    mode: oneOf(['all', 'restricted'], { description: 'all: any model that a key grants' }),
    models: Type.Optional(
      Type.Array(Type.String(), {
        description: 'For restricted: only these, with patterns as for keys',
      }),
    ),
  },
  strict,
)

const ApiKey = Type.Object(
  {
    name,
    value: SecretRef({ description: 'A whole key, gwk_<public id>.<secret>' }),
    models: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The models it grants; openai/* stands for all names that it covers',
      }),
    ),
    all_models: Type.Optional(Type.Boolean({ description: 'true, in the place of models' })),
    mcp_servers: Type.Optional(McpServers),
  },
  strict,
)

export const auth = configSection(
  'auth',
  Type.Object(
    {
      stale_max_secs: Type.Number({
        default: 300,
        minimum: 0,
        description: 'How long keys are still accepted while the database cannot be reached',
      }),
      quickstart_user: Type.Optional({
        ...email,
        description:
          'Email address of a user for whom a key is made, and printed once, at the first start',
      } as typeof email),
      bootstrap_admin: Type.Optional(
        Type.Object(
          { email, password: SecretRef({ description: '12 to 256 characters' }) },
          {
            ...strict,
            description: 'Made at the start when nobody can sign in as a platform admin',
          },
        ),
      ),
    },
    { ...strict, default: {} },
  ),
)

export const teams = configSection(
  'teams',
  Type.Array(Type.Object({ key, name, model_access: Type.Optional(ModelAccess) }, strict), {
    default: [],
  }),
)

// What an entry leaves out is not touched in the database, so nothing here has a default.
export const users = configSection(
  'users',
  Type.Array(
    Type.Object(
      {
        name,
        email,
        role: Type.Optional(
          oneOf(['platform_admin', 'user'], {
            description: 'What the user may do in the control plane',
          }),
        ),
        team: Type.Optional(
          Type.Object(
            {
              key,
              role: Type.Optional(
                oneOf(['owner', 'admin', 'member'], {
                  description: 'What the user may do in the team',
                }),
              ),
            },
            strict,
          ),
        ),
        request_logging_enabled: Type.Optional(
          Type.Boolean({ description: 'false: calls leave no rows in the request log' }),
        ),
        model_access: Type.Optional(ModelAccess),
        budget: Type.Optional(Budget),
        api_keys: Type.Optional(Type.Array(ApiKey)),
      },
      strict,
    ),
    { default: [] },
  ),
)

export const serviceAccounts = configSection(
  'service_accounts',
  Type.Array(
    Type.Object(
      {
        key,
        name,
        team: {
          ...key,
          description: 'Key of the team that it belongs to, in lower case',
        } as typeof key,
        model_access: Type.Optional(ModelAccess),
        budget: { ...Budget, description: 'It must have one' } as typeof Budget,
        api_keys: Type.Optional(Type.Array(ApiKey)),
      },
      strict,
    ),
    { default: [] },
  ),
)

export type TeamEntry = Static<typeof teams.schema>[number]
export type UserEntry = Static<typeof users.schema>[number]
export type ServiceAccountEntry = Static<typeof serviceAccounts.schema>[number]
export type ApiKeyEntry = Static<typeof ApiKey>
export type ModelAccessEntry = Static<typeof ModelAccess>
