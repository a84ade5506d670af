import { GatewayError, type Static, strictObject, Type } from 'model-gateway/plugin'
import type { KnownModels } from '../../_shared/model-names.ts'
import { invalidBody, oneOf } from '../../_shared/schema.ts'

/** A display name: no control characters, and not only spaces. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$',
  errorMessage: 'must be 1 to 200 characters on one line',
})

export const Key = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  errorMessage:
    'must be 1 to 64 lower-case letters, digits, dots, dashes and underscores, not beginning with . - _',
})

export const Email = Type.String({
  pattern: '^[^@\\s\\u0000-\\u001f\\u007f]+@[^@\\s\\u0000-\\u001f\\u007f]+$',
  maxLength: 320,
  errorMessage: 'must be an e-mail address',
})

const ModelId = Type.String({ minLength: 1, maxLength: 200 })
export const ModelIds = Type.Array(ModelId, { maxItems: 1000 })

/** `all`, or the keys of MCP servers. */
export const McpServers = Type.Union(
  [
    Type.Literal('all'),
    Type.Array(Type.String({ pattern: '^[a-z0-9_-]{3,64}$' }), { maxItems: 1000 }),
  ],
  {
    description: 'MCP servers that the key may use: all (default), or a list of server_key',
    errorMessage: 'must be all, or a list of the keys of MCP servers such as [wiki, tickets]',
  },
)

/** As the database has it: null for all. */
export function mcpServerColumn(servers: Static<typeof McpServers>): string[] | null {
  return servers === 'all' ? null : [...new Set(servers)]
}

/** `models` apply only with mode `restricted`. */
export const ModelAccess = strictObject({
  mode: oneOf(['all', 'restricted']),
  models: Type.Optional(ModelIds),
})

export const ModelAccessView = Type.Object({
  mode: oneOf(['all', 'restricted']),
  models: Type.Array(Type.String()),
})

export const TeamRole = oneOf(['owner', 'admin', 'member'])

export const Search = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Part of the name, case-insensitive.',
})

/** The object in the path does not exist. */
export function notFound(what: string): GatewayError {
  return new GatewayError('not_found', `no ${what} has this id`)
}

/** An object in the body does not exist. `field` as in `team.team_id`. */
export function missing(field: string, what: string): GatewayError {
  return new GatewayError('not_found', `${field}: the ${what} does not exist`)
}

/** Throws for names and patterns that match no model of the config. */
export function requireModels(models: readonly string[], known: KnownModels, field: string): void {
  for (const model of models) {
    const fault = known.faultOf(model)
    if (fault !== undefined) throw new GatewayError('not_found', `${field}: ${fault}`)
  }
}

/** Not allowed for service accounts, whose keys must list their models. */
export const ALL_MODELS = '*'

/** The columns of a model access. Throws for unknown models. */
export function accessColumns(
  access: { readonly mode: 'all' | 'restricted'; readonly models?: string[] },
  known: KnownModels,
) {
  const { mode, models = [] } = access
  if (mode === 'all' && models.length > 0) {
    throw invalidBody('/model_access/models', 'must be empty with mode all')
  }
  requireModels(models, known, 'model_access.models')
  return { model_access_mode: mode, allowed_models: [...new Set(models)] }
}

export function accessView(row: {
  readonly model_access_mode: 'all' | 'restricted'
  readonly allowed_models: readonly string[]
}) {
  return { mode: row.model_access_mode, models: [...row.allowed_models] }
}
