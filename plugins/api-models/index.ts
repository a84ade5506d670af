import { accounting } from 'model-gateway/accounting'
import { type HttpCall, httpRoutes } from 'model-gateway/http'
import { identity, presentedKey } from 'model-gateway/identity'
import { definePlugin, GatewayError, optional, Type } from 'model-gateway/plugin'

/** The models that a key may ask for, whether or not a route can serve them now. */
export default definePlugin({
  manifest: {
    id: 'plugin.api-models',
    version: '0.1.0',
    contract: 1,
    summary: 'Lists the models that an API key may use.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: ['runtime'],
    uses: { identity, accounting: optional(accounting) },
  },
  setup(ctx) {
    async function modelsOf(call: HttpCall) {
      const principal = await ctx.uses.identity().authenticate(presentedKey(call.header), call)
      ctx.uses.accounting()?.checkOwner(principal)
      const config = ctx.runtime.lease()
      const ids = config.modelsOf(principal)
      config.release()
      const created = Math.floor(config.acceptedAt.getTime() / 1000)
      return ids.map((id) => ({ id, object: 'model', created, owned_by: 'gateway' }))
    }
    ctx.provide(httpRoutes, {
      method: 'GET',
      path: '/v1/models',
      handle: async (call) => Response.json({ object: 'list', data: await modelsOf(call) }),
    })
    ctx.provide(httpRoutes, {
      method: 'GET',
      // Ids may have slashes, which not all clients encode.
      path: '/v1/models/*',
      async handle(call) {
        const models = await modelsOf(call)
        const model = models.find(({ id }) => id === call.params['*'])
        if (model !== undefined) return Response.json(model)
        throw new GatewayError('model_not_found', 'this key may use no model with this id')
      },
    })
  },
})
