import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { open } from '../../../plugins/guardrails/__fixtures__/word-check.ts'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
} from '../../harness/gateway.ts'
import { pluginFolder, simulated } from '../plugins/plugin-files.fixture.ts'

const wordCheck = new URL('../../../plugins/guardrails/__fixtures__/word-check.ts', import.meta.url)
const files = pluginFolder()
/** What the plugin in order has been told, in that order. */
const told: string[] = []
/** Its providers that are not disposed. */
const providers = new Set()
Object.assign(globalThis, { toldInOrder: told, providersInOrder: providers })
let gateway: TestGateway

/** A config with one model, by whose name the plugin knows what to do. */
function config(model: string, server: object = {}) {
  const use = join(files.folder, 'order.ts')
  return {
    ...simulated,
    providers: [...simulated.providers, { id: 'own', type: 'in_order' }],
    server: { max_body_bytes: 1000, ...server },
    plugins: [{ use }, { use: 'builtin:*' }, { use: wordCheck.pathname }],
    models: [{ id: model, routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
    guardrails: {
      managed_checks: {
        words: { kind: 'words', phases: ['prompt'], word_list: { denied_word: 'NO' } },
      },
    },
  }
}

function reload(model: string) {
  const database = { url: `literal.${gateway.databaseUrl}` }
  const text = stringify({ users: [ada], ...config(model), database })
  return gateway.reload({ text, file: join(files.folder, 'gateway.yaml') })
}

const inOrder = (model: string) => [
  `prepare ${model}`,
  `in force ${model}`,
  `routes ${model}/sim/simulator-1`,
]

/** Resolves when there are the parts of so many gateways, and of no config but theirs. */
const left = (count: number) =>
  eventually(async () => (open.size === count && providers.size === count) || undefined)

beforeAll(async () => {
  files.plugin('order', {
    manifest: `needs: ['database'],
      providerTypes: [
        { type: 'in_order', config: Type.Object({}), compatibility: Type.Object({}) },
      ],`,
    setup: `
      const { toldInOrder: told, providersInOrder: providers } = globalThis
      ctx.provide(kit.providerFactories, {
        type: 'in_order',
        create() {
          const provider = { bind() {}, dispose: () => void providers.delete(provider) }
          providers.add(provider)
          return provider
        },
      })
      ctx.provide(kit.snapshotListeners, {
        async prepare({ models }) {
          const [model] = models.keys()
          if (model === 'refused') throw new Error('planted')
          told.push('prepare ' + model)
          if (model === 'slow') await Bun.sleep(200)
          return () => void told.push('in force ' + model)
        },
      })
      ctx.provide(kit.boundRouteListeners, {
        inForce: (routes) => void told.push('routes ' + [...routes.keys()]),
      })
      return async () => {
        await ctx.database.sql\`select 1\`
        told.push('disposed')
      }`,
  })
  gateway = await startTestGateway(config('first'))
  expect(told).toEqual(inOrder('first'))
})
beforeEach(() => {
  told.length = 0
})
afterAll(async () => {
  await gateway?.stop()
  files.remove()
})

test('configs come into force one after the other, with their routes', async () => {
  expect(await Promise.all([reload('slow'), reload('quick')])).toEqual([[], []])
  expect(told).toEqual([...inOrder('slow'), ...inOrder('quick')])
  await left(1)
})

test('of a config that a plugin refuses nothing stays, and the next one comes into force', async () => {
  const [refused, next] = [reload('refused'), reload('next')]
  await expect(refused).rejects.toThrow('planted')
  expect(await next).toEqual([])
  expect(told).toEqual(inOrder('next'))
  await left(1)
})

test('no message of MCP may be larger than any other body', async () => {
  const send = async (bytes: number) => {
    const headers = { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' }
    const body = 'x'.repeat(bytes)
    return (await fetch(`${gateway.url}/mcp/nobody`, { method: 'POST', headers, body })).status
  }
  expect(await send(1001)).toBe(413)
  expect(await send(1000)).not.toBe(413)
})

test('a gateway that cannot start takes down what it has set up', async () => {
  const bind = new URL(gateway.url).host
  const { databaseUrl } = gateway
  const first = startTestGateway(config('refused'), { databaseUrl })
  await expect(first).rejects.toThrow('planted')
  expect(told.splice(0)).toEqual(['disposed'])
  const second = startTestGateway(config('second', { bind }), { databaseUrl })
  await expect(second).rejects.toThrow('cannot listen')
  expect(told).toEqual([...inOrder('second'), 'disposed'])
  await left(1)
})

test('without accounting or a request log a gateway starts only when it is told to', async () => {
  const { databaseUrl } = gateway
  const plugins = ['identity', 'audit-log', 'simulator'].map((name) => ({ use: `builtin:${name}` }))
  const { providers, models } = simulated
  const own = { plugins, providers: providers.map(({ id, type }) => ({ id, type })), models }
  await expect(startTestGateway(own, { databaseUrl })).rejects.toThrow(
    'no plugin provides accounting, exchange_recorders: load builtin:accounting and builtin:request-log, or set server.ungoverned: true',
  )
})

test('a gateway that ends while a config is on its way ends behind it', async () => {
  const reloading = reload('slow')
  const stopping = gateway.stop()
  expect(await reloading).toEqual([])
  await stopping
  expect(told).toEqual([...inOrder('slow'), 'disposed'])
  await left(0)
})
