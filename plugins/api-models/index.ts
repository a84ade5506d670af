import { accounting, pricingSource } from 'model-gateway/accounting'
import { boundRouteListeners, snapshotListeners } from 'model-gateway/host'
import { type HttpCall, httpRoutes } from 'model-gateway/http'
import { identity, presentedKey } from 'model-gateway/identity'
import { definePlugin, GatewayError, optional, Type } from 'model-gateway/plugin'
import { ANTHROPIC_VERSION, listedModel, pageOf } from './anthropic.ts'
import { callersModels, createNames, type ServedConfig } from './names.ts'

/** The models that a key may ask for, whether or not a route can serve them now. */
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

    async function modelsOf(call: HttpCall) {
      const principal = await ctx.uses.identity().authenticate(presentedKey(call.header), call)
      ctx.uses.accounting()?.checkOwner(principal)
      const config = ctx.runtime.lease()
      try {
        const models = callersModels(namesOf(served, ctx.clock.now()), config, principal)
        return { ...models, acceptedAt: config.acceptedAt }
      } finally {
        config.release()
      }
    }
    const isAnthropic = (header: HttpCall['header']) => header(ANTHROPIC_VERSION) !== null
    const errorsOf = (header: HttpCall['header']) => (isAnthropic(header) ? 'messages' : undefined)

    ctx.provide(httpRoutes, {
      method: 'GET',
      path: '/v1/models',
      errorsOf,
      async handle(call) {
        const { ids, acceptedAt } = await modelsOf(call)
        if (!isAnthropic(call.header)) {
          return Response.json({ object: 'list', data: ids.map((id) => model(id, acceptedAt)) })
        }
        const listed = ids.map((id) => listedModel(id, acceptedAt))
        return anthropicReply(pageOf(listed, call.url().searchParams), call)
      },
    })
    ctx.provide(httpRoutes, {
      method: 'GET',
      // Ids may have slashes, which not all clients encode.
      path: '/v1/models/*',
      errorsOf,
      async handle(call) {
        const { has, acceptedAt } = await modelsOf(call)
        const id = call.params['*']
        if (id === undefined || !has(id)) {
          throw new GatewayError('model_not_found', 'this key may use no model with this id')
        }
        return isAnthropic(call.header)
          ? anthropicReply(listedModel(id, acceptedAt), call)
          : Response.json(model(id, acceptedAt))
      },
    })
  },
})

function model(id: string, acceptedAt: Date) {
  const created = Math.floor(acceptedAt.getTime() / 1000)
  return { id, object: 'model', created, owned_by: 'gateway' }
}

/** Official clients look for a header of their own. */
function anthropicReply(body: object, { requestId }: HttpCall): Response {
  return Response.json(body, { headers: { 'request-id': requestId } })
}
