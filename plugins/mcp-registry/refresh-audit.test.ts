import { expect, test } from 'bun:test'
import type { SessionCaller } from 'model-gateway/admin'
import { refreshEntry } from './refresh-audit.ts'
import type { ServerRow } from './store.ts'

test('after a refresh that failed the audit log has the tools that are still there', () => {
  const before = { id: 's', discovery_status: 'success', tool_count: 3 } as ServerRow
  const by = { caller: { kind: 'session' } as SessionCaller, requestId: 'r' }
  const entry = refreshEntry(before, by, { status: 'failed', summary: 'timeout' }, undefined)
  expect(entry.after).toEqual({
    discovery_status: 'failed',
    error_summary: 'timeout',
    tool_count: 3,
  })
})
