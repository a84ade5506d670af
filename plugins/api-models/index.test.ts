import { identity } from 'model-gateway/identity'
import { type Plugin, Type } from 'model-gateway/plugin'
import { testSurface } from 'model-gateway/testing'
import plugin from './index.ts'

/** Lists the models of a key; another plugin identifies the key. */
const keys: Plugin = {
  manifest: {
    id: 'plugin.keys',
    version: '1.0.0',
    contract: 1,
    summary: 'Stands in for the identities.',
    config: Type.Object({}),
    needs: [],
    provides: [identity],
  },
  setup(ctx) {
    ctx.provide(identity, {
      authenticate: () => Promise.reject(new Error('must not be called')),
      directory: () => new Map(),
      onChange: () => {},
    } as never)
  },
}

testSurface({ plugin, beside: [keys] })
