import type { AuditEntry } from 'model-gateway/admin'
import type { JsonObject } from 'model-gateway/plugin'
import type { By } from './change-servers.ts'
import { type Outcome, summaryOf } from './discovery/outcome.ts'
import type { ServerRow } from './store.ts'

/** Maximum number of tool names of each kind in an entry, so that a server cannot fill the log. */
const MOST_NAMED = 100

/** Upstream names of the tools that changed. */
export interface ToolChanges {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/**
 * The audit entry of a refresh by an administrator. Contains tool names, but no descriptions.
 * `changes`: absent if no tool changed.
 */
export function refreshEntry(
  before: ServerRow,
  { caller, requestId }: By,
  outcome: Outcome,
  changes: ToolChanges | undefined,
): AuditEntry {
  const { id, discovery_status, tool_count } = before
  return {
    actor: caller,
    requestId,
    action: 'mcp_server.discovery_refresh',
    objectKind: 'mcp_server',
    objectId: id,
    before: { discovery_status, tool_count },
    after: {
      discovery_status: outcome.status,
      error_summary: summaryOf(outcome),
      tool_count: outcome.status === 'success' ? outcome.tools.length : tool_count,
      ...(changes && {
        added: listed(changes.added),
        changed: listed(changes.changed),
        removed: listed(changes.removed),
      }),
    },
  }
}

function listed(names: readonly string[]): JsonObject {
  return { count: names.length, names: names.slice(0, MOST_NAMED) }
}
