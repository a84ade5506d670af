import type { AddressPolicy } from 'model-gateway/http'
import type { McpServer } from 'model-gateway/mcp'
import { createFreshLoad } from '../_shared/fresh-load.ts'
import { accessOf } from './access.ts'
import type { CallableRow, ServerStore } from './store.ts'

export interface RegistrySnapshot {
  find(serverKey: string): McpServer | undefined
  /** Resolves when memory has the state of the database at this call, or a later one. */
  check(): Promise<void>
  /** Sets the policy for addresses of servers, from now on. */
  setPolicy(policy: AddressPolicy): void
}

/** The active servers in memory. */
export function createSnapshot(
  source: Pick<ServerStore, 'readRevision' | 'readCallable'>,
): RegistrySnapshot {
  let policy: AddressPolicy = { allowPrivate: false, allowedCidrs: [] }
  let rows: readonly CallableRow[] = []
  let servers: ReadonlyMap<string, McpServer> = new Map()
  let revision: bigint | undefined

  function build(): void {
    servers = new Map(rows.map((row) => [row.server_key, serverOf(row, policy)]))
  }

  async function load(): Promise<void> {
    const before = revision
    // After a failed poll, read again even at the same revision: a failover may have lost changes,
    // and the counter then counts others.
    revision = undefined
    const current = await source.readRevision()
    if (current === before) {
      revision = before
      return
    }
    const next = await source.readCallable()
    rows = next.rows
    revision = next.revision
    build()
  }

  return {
    find: (serverKey) => servers.get(serverKey),
    check: createFreshLoad(load),
    setPolicy(changed) {
      policy = changed
      build()
    },
  }
}

function serverOf(row: CallableRow, policy: AddressPolicy): McpServer {
  const names = [row.recommended_catalog_key, URL.parse(row.server_url)?.hostname]
  return Object.freeze({
    mcpServerId: row.id,
    serverKey: row.server_key,
    aliases: names.filter((name) => typeof name === 'string'),
    displayName: row.display_name,
    serverUrl: row.server_url,
    authMode: row.auth_mode,
    authConfig: row.auth_config,
    timeoutMs: row.timeout_ms,
    addresses: addressesOf(row, policy),
    tools: new Map(Object.entries(row.tool_ids ?? {})),
    ...accessOf(row),
  })
}

/** allow_private of the config file applies only to the URL of the config file. */
export function addressesOf(
  row: Pick<CallableRow, 'allow_private' | 'admin_fields'>,
  policy: AddressPolicy,
): AddressPolicy {
  return row.allow_private && !row.admin_fields.includes('server_url')
    ? { ...policy, allowPrivate: true }
    : policy
}
