import { accounting, pricingSource } from 'model-gateway/accounting'
import { boundRouteListeners, snapshotListeners } from 'model-gateway/host'
import { type HttpCall, httpRoutes } from 'model-gateway/http'
import { identity, presentedKey } from 'model-gateway/identity'
import { definePlugin, GatewayError, optional, Type } from 'model-gateway/plugin'
import { ANTHROPIC_VERSION, listedModel, pageOf } from './anthropic.ts'
import { GOOGLE_KEY, GOOGLE_KEYS, googleModel, googlePage } from './google.ts'
import { callersModels, createNames, type ServedConfig } from './names.ts'

/** The models that a key has access to, whether or not a route can serve them now. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-models',
    version: '0.1.0',
    contract: 1,
    summary: 'Lists the models that an API key may use.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['runtime', 'clock'],
    uses: { identity, accounting: optional(accounting), prices: optional(pricingSource) },
  },
  setup(ctx) {
    let served: ServedConfig = { models: new Map(), routes: new Map() }
    ctx.provide(snapshotListeners, {
      prepare: async ({ models }) => {
        return () => {
          served = { ...served, models }
        }
      },
    })
    ctx.provide(boundRouteListeners, {
      inForce(routes) {
        served = { ...served, routes }
      },
    })
    const namesOf = createNames((list, at) => ctx.uses.prices()?.models?.(list, at) ?? [])

    async function modelsOf(call: HttpCall, keyHeaders?: readonly string[]) {
      const key = presentedKey(call.header, keyHeaders)
      const principal = await ctx.uses.identity().authenticate(key, call)
      ctx.uses.accounting()?.checkOwner(principal)
      const config = ctx.runtime.lease()
      try {
        const models = callersModels(namesOf(served, ctx.clock.now()), config, principal)
        return { ...models, acceptedAt: config.acceptedAt }
      } finally {
        config.release()
      }
    }
    async function oneOf(call: HttpCall, keyHeaders?: readonly string[]) {
      const { has, acceptedAt } = await modelsOf(call, keyHeaders)
      const id = call.params['*']
      if (id !== undefined && has(id)) return { id, acceptedAt }
      throw new GatewayError('model_not_found', 'this key has no access to a model with this id')
    }
    /** Ids may contain slashes, which not all clients encode. */
    const ofV1 = (rest: string) =>
      ({ method: 'GET', path: `/v1/models${rest}`, errorsOf: apiOf }) as const
    const ofGoogle = (rest: string) =>
      ({ method: 'GET', path: `/v1beta/models${rest}`, errorsOf: () => 'google' }) as const

    async function googleList(call: HttpCall) {
      const { ids, acceptedAt } = await modelsOf(call, GOOGLE_KEYS)
      const { ids: page, ...next } = googlePage(ids, call.url().searchParams)
      return Response.json({ models: page.map((id) => googleModel(id, acceptedAt)), ...next })
    }
    async function oneOfGoogle(call: HttpCall) {
      const { id, acceptedAt } = await oneOf(call, GOOGLE_KEYS)
      return Response.json(googleModel(id, acceptedAt))
    }

    ctx.provide(httpRoutes, { ...ofGoogle(''), handle: googleList })
    ctx.provide(httpRoutes, { ...ofGoogle('/*'), handle: oneOfGoogle })
    ctx.provide(httpRoutes, {
      ...ofV1(''),
      async handle(call) {
        const api = apiOf(call.header)
        if (api === 'google') return await googleList(call)
        const { ids, acceptedAt } = await modelsOf(call)
        if (api === undefined) {
          return Response.json({ object: 'list', data: ids.map((id) => model(id, acceptedAt)) })
        }
        const listed = ids.map((id) => listedModel(id, acceptedAt))
        return anthropicReply(pageOf(listed, call.url().searchParams), call)
      },
    })
    ctx.provide(httpRoutes, {
      ...ofV1('/*'),
      async handle(call) {
        const api = apiOf(call.header)
        if (api === 'google') return await oneOfGoogle(call)
        const { id, acceptedAt } = await oneOf(call)
        return api === 'messages'
          ? anthropicReply(listedModel(id, acceptedAt), call)
          : Response.json(model(id, acceptedAt))
      },
    })
  },
})

/** The API whose format the caller expects; undefined for OpenAI's. */
function apiOf(header: HttpCall['header']): 'messages' | 'google' | undefined {
  if (header(ANTHROPIC_VERSION) !== null) return 'messages'
  return header(GOOGLE_KEY) === null ? undefined : 'google'
}

function model(id: string, acceptedAt: Date) {
  const created = Math.floor(acceptedAt.getTime() / 1000)
  return { id, object: 'model', created, owned_by: 'gateway' }
}

/** Official clients read another header. */
function anthropicReply(body: object, { requestId }: HttpCall): Response {
  return Response.json(body, { headers: { 'request-id': requestId } })
}
