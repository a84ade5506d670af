import { expect, test } from 'bun:test'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { adaKey, startTestGateway } from '../../harness/gateway.ts'
import { simulated } from '../plugins/plugin-files.fixture.ts'

test('a gateway without the MCP proxy serves the rest, the administration of servers too', async () => {
  const plugins = Object.keys(builtins)
    .filter((name) => name !== 'mcp-proxy')
    .map((name) => ({ use: `builtin:${name}` }))
  const gateway = await startTestGateway({ ...simulated, plugins })
  try {
    const get = (path: string) =>
      fetch(gateway.url + path, { headers: { authorization: `Bearer ${adaKey}` } })
    const absent = await get('/mcp/files')
    expect(absent.status).toBe(404)
    expect(await absent.json()).toMatchObject({ error: { code: 'not_found' } })
    expect((await get('/v1/models')).status).toBe(200)
    expect((await get('/api/v1/admin/mcp/servers')).status).not.toBe(404)
  } finally {
    await gateway.stop()
  }
})
