import type { AuditTrail, SessionCaller } from 'model-gateway/admin'
import { type AddressPolicy, type Outbound, OutboundError } from 'model-gateway/http'
import type { McpAuthMode, McpAuthProblem } from 'model-gateway/mcp'
import { type Database, GatewayError, type JsonObject, type Static } from 'model-gateway/plugin'
import { accessProblems } from './access.ts'
import { DEFAULT_AUTH_MODE, DEFAULT_TIMEOUT_MS } from './config.ts'
import { type Declaration, declarationProblems, secretInUrl } from './declaration.ts'
import { recommendedServers } from './recommended.ts'
import { auditSecretMove, secretMove } from './secret-move.ts'
import { addressesOf } from './snapshot.ts'
import {
  findServer,
  lockRegistry,
  type ServerColumns,
  type ServerRow,
  type ServerStore,
  type Transaction,
} from './store.ts'
import { type NewServer, type ServerChange, stateOf } from './wire.ts'

/** Whose change it is. */
export interface By {
  readonly caller: SessionCaller
  readonly requestId: string
}

export interface ServerChanges {
  /**
   * Throws `validation_failed`, `conflict` for a used key, `not_found` for an unknown suggestion.
   */
  create(by: By, body: Static<typeof NewServer>): Promise<ServerRow>
  /** Throws `validation_failed` and `not_found`. */
  update(by: By, id: string, body: Static<typeof ServerChange>): Promise<ServerRow>
  /** Does nothing if the server already has this state. Throws `not_found`. */
  setStatus(by: By, id: string, status: ServerRow['status']): Promise<ServerRow>
}

export interface ServerChangeParts {
  readonly database: Database
  readonly store: ServerStore
  readonly audit: () => AuditTrail
  readonly outbound: Outbound
  readonly modes: () => readonly McpAuthMode[]
  readonly policy: () => AddressPolicy
  /** Resolves when this gateway has the committed changes in memory. */
  readonly committed: () => Promise<void>
}

/** Changes of servers by administrators, each in one transaction with its audit entry. */
export function createServerChanges(parts: ServerChangeParts): ServerChanges {
  const { database, store, outbound, modes, policy } = parts

  async function change<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const result = await database.sql.begin(async (tx) => {
      await lockRegistry(tx)
      return await work(tx)
    })
    // Replicas are notified; if that fails here, the next poll within a second finds the change.
    await parts.committed().catch(() => {})
    return result as T
  }

  function audit(
    tx: Transaction,
    { caller, requestId }: By,
    action: string,
    id: string,
    states: { readonly before?: JsonObject; readonly after: JsonObject },
  ): Promise<void> {
    const object = { objectKind: 'mcp_server', objectId: id }
    return parts.audit().write(tx, { actor: caller, requestId, action, ...object, ...states })
  }

  /** Throws for an invalid declaration, and for a URL with a forbidden address. */
  async function require(
    declared: Declaration & { readonly server_url: string },
    addresses: AddressPolicy,
    urlIsNew: boolean,
  ): Promise<void> {
    const problems = [...declarationProblems(declared, modes(), addresses)]
    const secret = urlIsNew ? secretInUrl(declared.server_url) : undefined
    if (secret !== undefined) problems.push(secret)
    if (problems.length > 0) throw invalid(problems)
    try {
      await outbound.check(declared.server_url, addresses)
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      if (error.fault === 'invalid_url' || error.fault === 'address_refused') {
        throw invalid([{ field: 'server_url', message: error.message }])
      }
      // An unresolvable name is accepted; it is checked again at each connection.
    }
  }

  /** Writes the differences and the audit entry. */
  async function write(
    tx: Transaction,
    by: By,
    before: ServerRow,
    columns: Partial<ServerColumns>,
    fields: readonly string[],
    action: string,
  ): Promise<ServerRow> {
    const move = secretMove(before, { ...before, ...columns })
    await store.update(tx, before, { ...columns, ...move }, fields)
    const after = await findServer(store, before.id, tx)
    await audit(tx, by, action, before.id, { before: stateOf(before), after: stateOf(after) })
    await auditSecretMove(
      parts.audit(),
      tx,
      { actor: by.caller, requestId: by.requestId },
      after,
      move,
    )
    return after
  }

  return {
    async create(by, body) {
      const server = completed(body)
      requireAccess(body)
      await require(server, policy(), true)
      const id = Bun.randomUUIDv7()
      try {
        return await change(async (tx) => {
          await store.insert(tx, { ...server, id }, DECLARABLE)
          const row = await findServer(store, id, tx)
          await audit(tx, by, 'mcp_server.create', id, { after: stateOf(row) })
          return row
        })
      } catch (error) {
        if ((error as { code?: string }).code !== '23505') throw error
        throw new GatewayError(
          'conflict',
          `server_key: the key ${server.server_key} is already used by an MCP server, which may be disabled`,
          { cause: error },
        )
      }
    },
    async update(by, id, body) {
      requireAccess(body)
      const seen = await findServer(store, id)
      const declared = { ...seen, ...body }
      const urlIsOurs = body.server_url === undefined || body.server_url === seen.server_url
      if (reachChanges(body)) {
        await require(declared, urlIsOurs ? addressesOf(seen, policy()) : policy(), !urlIsOurs)
      }
      return await change(async (tx) => {
        const before = await findServer(store, id, tx)
        // The checks were made against an older version of the row.
        if (reachChanges(body) && before.version !== seen.version) {
          throw new GatewayError('conflict', 'the server was changed meanwhile; try again')
        }
        const changed = Object.entries(body).filter(
          ([name, value]) => !Bun.deepEquals(value, before[name as keyof ServerRow]),
        )
        if (changed.length === 0) return before
        const columns = Object.fromEntries(changed) as Partial<ServerColumns>
        return await write(tx, by, before, columns, Object.keys(columns), 'mcp_server.update')
      })
    },
    async setStatus(by, id, status) {
      return await change(async (tx) => {
        const before = await findServer(store, id, tx)
        if (before.status === status) return before
        const action = status === 'disabled' ? 'mcp_server.disable' : 'mcp_server.enable'
        return await write(tx, by, before, { status }, [], action)
      })
    },
  }
}

/** The config file cannot change a server that an administrator created with the same key. */
const DECLARABLE = [
  'display_name',
  'description',
  'server_url',
  'auth_mode',
  'auth_config',
  'timeout_ms',
  'allowlist',
  'tools',
]

/** Throws for an empty allowlist or tool rule. */
function requireAccess(body: Static<typeof ServerChange>): void {
  const problems = [...accessProblems(body)]
  if (problems.length > 0) throw invalid(problems)
}

function reachChanges(body: Static<typeof ServerChange>): boolean {
  return (
    body.server_url !== undefined || body.auth_mode !== undefined || body.auth_config !== undefined
  )
}

/** A new server, completed from the suggestion and the defaults. */
function completed(body: Static<typeof NewServer>) {
  const key = body.recommended_catalog_key
  const entry = recommendedServers.find((candidate) => candidate.recommended_catalog_key === key)
  if (key !== undefined && entry === undefined) {
    throw new GatewayError(
      'not_found',
      `recommended_catalog_key: the recommended server ${key} does not exist`,
    )
  }
  const { server_key, display_name, server_url } = { ...entry, ...body }
  if (server_key === undefined || display_name === undefined || server_url === undefined) {
    const required = { server_key, display_name, server_url }
    throw invalid(
      Object.entries(required)
        .filter(([, value]) => value === undefined)
        .map(([field]) => ({ field, message: 'is required' })),
    )
  }
  // The suggested auth_config does not fit another auth_mode.
  const suggested = body.auth_mode === undefined || body.auth_mode === entry?.auth_mode
  return {
    recommended_catalog_key: key ?? null,
    server_key,
    display_name,
    server_url,
    description: body.description === undefined ? (entry?.description ?? null) : body.description,
    auth_mode: body.auth_mode ?? entry?.auth_mode ?? DEFAULT_AUTH_MODE,
    auth_config: (body.auth_config ?? (suggested ? entry?.auth_config : {}) ?? {}) as JsonObject,
    timeout_ms: body.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    allowlist: body.allowlist ?? null,
    tools: body.tools ?? null,
    status: 'active' as const,
  }
}

/** A body that fits the schema but is not valid. */
function invalid(problems: readonly McpAuthProblem[]): GatewayError {
  const list = problems.map(({ field, message }) => ({
    path: `/${field.replaceAll('.', '/')}`,
    message,
  }))
  return new GatewayError(
    'validation_failed',
    list.map(({ path, message }) => `${path}: ${message}`).join('; '),
    { details: { problems: list } },
  )
}
