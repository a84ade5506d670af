import { expect, test } from 'bun:test'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { startTestGateway } from '../../harness/gateway.ts'
import { chat, simulated } from '../plugins/plugin-files.fixture.ts'

/** By plugin: a path, a body for it, and how that is answered, as the route makes no embeddings. */
const apis: Readonly<Record<string, readonly [path: string, body: object, status: number]>> = {
  'api-messages': ['/v1/messages', { ...chat, max_tokens: 5 }, 200],
  'api-responses': ['/v1/responses', { model: 'm', input: 'hello' }, 200],
  'api-embeddings': ['/v1/embeddings', { model: 'm', input: 'hello' }, 400],
}

test.each(Object.keys(apis))('a gateway without %s serves the rest', async (absent) => {
  const [model] = simulated.models
  const routes = model?.routes.map((route) => ({ ...route, capabilities: { embeddings: false } }))
  const gateway = await startTestGateway({
    ...simulated,
    models: [{ ...model, routes }],
    plugins: Object.keys(builtins)
      .filter((name) => name !== absent)
      .map((name) => ({ use: `builtin:${name}` })),
  })
  try {
    expect((await gateway.post('/v1/chat/completions', chat)).status).toBe(200)
    for (const [api, [path, body, status]] of Object.entries(apis)) {
      const reply = await gateway.post(path, body)
      expect([api, reply.status]).toEqual([api, api === absent ? 404 : status])
    }
  } finally {
    await gateway.stop()
  }
})
