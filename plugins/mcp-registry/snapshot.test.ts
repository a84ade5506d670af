import { expect, test } from 'bun:test'
import { createSnapshot } from './snapshot.ts'
import type { CallableRow } from './store.ts'

const row: CallableRow = {
  id: 'server',
  server_key: 'docs',
  display_name: 'Docs',
  server_url: 'https://docs.example.test/mcp',
  auth_mode: 'none',
  auth_config: {},
  timeout_ms: 1000,
  recommended_catalog_key: null,
  allow_private: false,
  admin_fields: [],
  allowlist: null,
  tools: null,
  tool_ids: null,
}

/** A store whose content and faults the test decides. */
function start() {
  const state = { revision: 1n, rows: [row], down: false, reads: 0 }
  const snapshot = createSnapshot({
    async readRevision() {
      if (state.down) throw new Error('down')
      return state.revision
    },
    async readCallable() {
      state.reads++
      return { revision: state.revision, rows: state.rows }
    },
  })
  return { state, snapshot }
}

test('servers are read when something has changed, and not without', async () => {
  const { state, snapshot } = start()
  expect(snapshot.find('docs')).toBeUndefined()
  for (let n = 0; n < 3; n++) await snapshot.check()
  expect(snapshot.find('docs')).toMatchObject({ mcpServerId: 'server' })
  expect(state.reads).toBe(1)
  state.rows = []
  state.revision++
  await snapshot.check()
  expect(snapshot.find('docs')).toBeUndefined()
})

test('a store that was away is read again: a standby may count another change under the same number', async () => {
  const { state, snapshot } = start()
  await snapshot.check()
  state.down = true
  await expect(snapshot.check()).rejects.toThrow('down')
  expect(snapshot.find('docs')).toBeDefined()
  Object.assign(state, { down: false, rows: [] })
  await snapshot.check()
  expect(snapshot.find('docs')).toBeUndefined()
})
