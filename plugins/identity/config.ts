import { configSection, SecretRef, type Static, Type } from 'model-gateway/plugin'
import { Budget } from '../_shared/budget-schema.ts'
import { oneOf } from '../_shared/schema.ts'
import { McpServers } from './_shared/fields.ts'

const strict = { additionalProperties: false }
const name = Type.String({ minLength: 1, maxLength: 200, description: 'Display name' })
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
    mode: oneOf(['all', 'restricted'], {
      description: 'all: every model that the key grants; restricted: only the listed models',
    }),
    models: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Allowed models with mode restricted; patterns as for keys',
      }),
    ),
  },
  strict,
)

const ApiKey = Type.Object(
  {
    name,
    value: SecretRef({ description: 'The whole key, gwk_<public id>.<secret>' }),
    models: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Models that the key grants; openai/* grants all names that match',
      }),
    ),
    all_models: Type.Optional(
      Type.Boolean({ description: 'true: the key grants all models; use instead of models' }),
    ),
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
        description: 'How long keys are accepted while the database is unreachable',
      }),
      quickstart_user: Type.Optional({
        ...email,
        description:
          'Email address of a user; the first start creates and prints an API key for this user',
      } as typeof email),
      bootstrap_admin: Type.Optional(
        Type.Object(
          { email, password: SecretRef({ description: '12 to 256 characters' }) },
          {
            ...strict,
            description: 'Created at start if no platform admin can sign in',
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

// No field has a default, because fields that an entry omits are not changed in the database.
export const users = configSection(
  'users',
  Type.Array(
    Type.Object(
      {
        name,
        email,
        role: Type.Optional(
          oneOf(['platform_admin', 'user'], {
            description: 'Role of the user in the control plane',
          }),
        ),
        team: Type.Optional(
          Type.Object(
            {
              key,
              role: Type.Optional(
                oneOf(['owner', 'admin', 'member'], {
                  description: 'Role of the user in the team',
                }),
              ),
            },
            strict,
          ),
        ),
        request_logging_enabled: Type.Optional(
          Type.Boolean({ description: 'false: calls are not recorded in the request log' }),
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
          description: 'Key of the team of the service account, in lower case',
        } as typeof key,
        model_access: Type.Optional(ModelAccess),
        budget: {
          ...Budget,
          description: 'Required budget of the service account',
        } as typeof Budget,
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
