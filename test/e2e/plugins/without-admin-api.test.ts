import { expect, test } from 'bun:test'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { adaKey, startTestGateway } from '../../harness/gateway.ts'
import { chat, pluginFolder, simulated } from './plugin-files.fixture.ts'

test('without builtin:admin-api everything else is served, and its paths are not there', async () => {
  const files = pluginFolder()
  const use = files.plugin('offers', {
    setup: `ctx.provide(admin.adminModules, { id: 'offers', routes: [] })`,
  })
  const others = Object.keys(builtins).filter((name) => name !== 'admin-api')
  const gateway = await startTestGateway({
    ...simulated,
    plugins: [...others.map((name) => ({ use: `builtin:${name}` })), { use }],
  })
  try {
    const served = await gateway.post('/v1/chat/completions', chat)
    expect(served.status).toBe(200)
    for (const path of ['/v1/models', '/readyz']) {
      const headers = { authorization: `Bearer ${adaKey}` }
      const { status } = await fetch(gateway.url + path, { headers })
      expect([path, status]).toEqual([path, 200])
    }
    for (const path of ['/api/v1/auth/session', '/api/v1/admin/users', '/docs', '/docs/json']) {
      const reply = await fetch(gateway.url + path)
      expect([path, reply.status]).toEqual([path, 404])
      expect(await reply.json()).toMatchObject({ error: { code: 'not_found' } })
    }
  } finally {
    await gateway.stop()
    files.remove()
  }
})
