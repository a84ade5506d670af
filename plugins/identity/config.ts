import { configSection, DecimalString, SecretRef, type Static, Type } from 'model-gateway/plugin'

const strict = { additionalProperties: false }
const name = Type.String({ minLength: 1, maxLength: 200 })
const key = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  description: 'Lower-case letters, digits, dots, dashes and underscores',
})
const email = Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$', maxLength: 320 })

const ModelAccess = Type.Object(
  {
    mode: Type.Union([Type.Literal('all'), Type.Literal('restricted')]),
    models: Type.Optional(Type.Array(Type.String())),
  },
  strict,
)

const ApiKey = Type.Object(
  {
    name,
    value: SecretRef({ description: 'A whole key, gwk_<public id>.<secret>' }),
    models: Type.Optional(Type.Array(Type.String())),
    all_models: Type.Optional(Type.Boolean()),
  },
  strict,
)

const Budget = Type.Object(
  {
    cadence: Type.Union([Type.Literal('daily'), Type.Literal('weekly'), Type.Literal('monthly')]),
    amount_usd: DecimalString(),
    hard_limit: Type.Boolean({ default: true }),
    timezone: Type.Literal('UTC', { default: 'UTC' }),
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
      quickstart_user: Type.Optional(email),
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
        role: Type.Optional(Type.Union([Type.Literal('platform_admin'), Type.Literal('user')])),
        team: Type.Optional(
          Type.Object(
            {
              key,
              role: Type.Optional(
                Type.Union([Type.Literal('owner'), Type.Literal('admin'), Type.Literal('member')]),
              ),
            },
            strict,
          ),
        ),
        request_logging_enabled: Type.Optional(Type.Boolean()),
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
        team: key,
        model_access: Type.Optional(ModelAccess),
        budget: Budget,
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
