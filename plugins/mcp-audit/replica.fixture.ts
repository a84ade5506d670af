import type { McpInvocation } from 'model-gateway/mcp'
import type { Database } from 'model-gateway/plugin'
import pino from 'pino'
import type { HeldFile } from '../_shared/write-ahead.ts'
import { createInvocations } from './invocations.ts'
import { noPayloads } from './policy.ts'
import type { WrittenRow } from './rows.ts'
import { createStore } from './store.ts'

export const SESSION = { serverId: 'server', sessionId: 's-1' }

/** A gateway on the database that writes only on request. */
export function replica(database: Database) {
  const store = createStore(database)
  const rows: WrittenRow[] = []
  const invocations = createInvocations({
    store,
    ahead: { add: async () => ({}) as HeldFile, release() {} },
    leaseMs: 60_000,
    resumeMs: 60_000,
    push: (row) => void rows.push(row),
    policy: () => ({ ...noPayloads, captures: true }),
    orUnavailable: (work) => work(),
    finished() {},
    lost() {},
    now: () => new Date(),
    log: pino({ level: 'silent' }),
  })
  return {
    ...invocations,
    async write() {
      invocations.flush()
      await store.write(rows.splice(0), 60_000)
    },
  }
}

export function callOf(jsonRpcId: string): McpInvocation {
  return {
    invocationId: Bun.randomUUIDv7(),
    requestId: 'r-1',
    jsonRpcId,
    sessionId: SESSION.sessionId,
    protocolVersion: undefined,
    principal: {
      apiKeyId: 'key',
      ownershipScopeKey: 'user:ada',
      owner: { kind: 'user', userId: 'ada', key: 'ada', requestLoggingEnabled: true },
    } as unknown as McpInvocation['principal'],
    serverId: SESSION.serverId,
    serverKey: 'tools',
    toolId: undefined,
    toolName: 'search',
    arguments: { q: 'x' },
    awaitsVerdict: true,
  }
}
