import {
  type AdminRoute,
  type AuditTrail,
  adminRoute,
  type SessionCaller,
} from 'model-gateway/admin'
import { type Database, GatewayError, strictObject, Type } from 'model-gateway/plugin'
import { Count, Instant, Text } from '../_shared/schema.ts'
import { keyOf } from './agent-harness.ts'
import {
  type HarnessName,
  type HarnessStore,
  MOST_LOOKED_AT,
  MOST_STARTS,
  type Transaction,
} from './harness-store.ts'
import type { Harnesses } from './harnesses.ts'

const MOST_NAMES = 256
const plain = '^[^\\u0000-\\u001f\\u007f]*$'

const Starts = Type.String({
  minLength: 1,
  maxLength: MOST_STARTS,
  pattern: plain,
  description: 'Prefix of the User-Agents, case-insensitive.',
  examples: ['house-bot/'],
  errorMessage: `must be 1 to ${MOST_STARTS} characters, without control characters`,
})
const Label = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: plain,
  description: 'Name of the agent; the name of a known agent extends that agent.',
  examples: ['House bot'],
  errorMessage: 'must be 1 to 64 characters, without control characters',
})
const Name = Type.Object({
  starts: Text,
  agent_harness_key: Text,
  agent_harness_label: Text,
  created_at: Instant,
})
const Caller = Type.Object({
  starts: Type.String({ description: 'The User-Agent before its version, in lower case.' }),
  user_agent: Type.String({ description: 'The whole User-Agent of the newest request.' }),
  request_count: Count,
  last_seen_at: Instant,
})

const viewOf = ({ starts, key, label, created_at }: HarnessName) => ({
  starts,
  agent_harness_key: key,
  agent_harness_label: label,
  created_at: created_at.toISOString(),
})

export interface HarnessRouteParts {
  readonly database: Pick<Database, 'sql'>
  readonly store: HarnessStore
  readonly harnesses: Harnesses
  readonly trail: () => AuditTrail | undefined
}

/** Routes for unknown callers, and for the names that administrators give them. */
export function harnessRoutes({ database, store, harnesses, trail }: HarnessRouteParts) {
  const admin = { audience: 'platform_admin', tag: 'observability' } as const
  const names = '/api/v1/admin/observability/harness-names'

  async function change<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const result = await database.sql.begin(work)
    // Other replicas are notified. If this fails, the next refresh follows within a second.
    await harnesses.refresh().catch(() => {})
    return result as T
  }

  async function audit(
    tx: Transaction,
    by: { readonly caller: SessionCaller; readonly requestId: string },
    action: 'set' | 'remove',
    before: HarnessName | undefined,
    after: HarnessName | undefined,
  ): Promise<void> {
    await trail()?.write(tx, {
      actor: by.caller,
      requestId: by.requestId,
      action: `harness_name.${action}`,
      objectKind: 'harness_name',
      objectId: (after ?? before)?.starts ?? '',
      ...(before !== undefined && { before: viewOf(before) }),
      ...(after !== undefined && { after: viewOf(after) }),
    })
  }

  const routes: AdminRoute[] = [
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/observability/unknown-callers',
      summary: `User-Agents of unknown callers, most frequent first, from the newest ${MOST_LOOKED_AT} requests that were logged as unknown.`,
      query: strictObject({}),
      result: Type.Object({ items: Type.Array(Caller) }),
      async handle() {
        const callers = await store.unknownCallers()
        const items = callers
          // Excludes rows that were logged before a name or a config rule identified them.
          .filter(({ user_agent }) => harnesses.classify(user_agent).key === 'unknown')
          .map(({ last_seen_at, ...caller }) => ({
            ...caller,
            last_seen_at: last_seen_at.toISOString(),
          }))
        return { items }
      },
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: names,
      summary: 'Names that administrators gave to callers.',
      query: strictObject({}),
      result: Type.Object({ items: Type.Array(Name) }),
      handle: async () => ({ items: (await store.names()).map(viewOf) }),
    }),
    adminRoute({
      ...admin,
      method: 'PUT',
      path: names,
      summary: 'Names the coding agent of a User-Agent prefix. The name applies to later requests.',
      body: strictObject({ starts: Starts, label: Label }),
      result: Name,
      errors: ['conflict'],
      async handle({ body, caller, requestId }) {
        const starts = body.starts.toLowerCase()
        const label = body.label.trim()
        const key = keyOf(label)
        if (key === undefined) {
          throw new GatewayError(
            'validation_failed',
            'label must contain a character of a-z or 0-9, and must not be Unknown',
          )
        }
        return await change(async (tx) => {
          const before = await store.put(tx, { starts, key, label })
          if (before?.key === key && before.label === label) return viewOf(before)
          const all = await store.names(tx)
          if (all.length > MOST_NAMES) {
            throw new GatewayError(
              'conflict',
              `the limit of ${MOST_NAMES} names is reached; remove some first`,
            )
          }
          const after = all.find((name) => name.starts === starts) as HarnessName
          await audit(tx, { caller, requestId }, 'set', before, after)
          return viewOf(after)
        })
      },
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: `${names}/remove`,
      summary: 'Removes a name. Requests that were logged with the name keep it.',
      body: strictObject({ starts: Starts }),
      status: 204,
      result: Type.Void(),
      errors: ['not_found'],
      async handle({ body, caller, requestId }) {
        await change(async (tx) => {
          const before = await store.remove(tx, body.starts.toLowerCase())
          if (before === undefined) {
            throw new GatewayError(
              'not_found',
              `no name is set for the User-Agent prefix ${body.starts}`,
            )
          }
          await audit(tx, { caller, requestId }, 'remove', before, undefined)
        })
      },
    }),
  ]
  return routes
}
