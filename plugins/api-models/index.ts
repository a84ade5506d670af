import { accounting } from 'model-gateway/accounting'
import { httpRoutes } from 'model-gateway/http'
import { identity, presentedKey } from 'model-gateway/identity'
import { definePlugin, optional, Type } from 'model-gateway/plugin'

/** `GET /v1/models`: the models that a key may ask for, whether or not a route can serve them now. */
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
    ctx.provide(httpRoutes, {
      method: 'GET',
      path: '/v1/models',
      async handle(call) {
        const principal = await ctx.uses.identity().authenticate(presentedKey(call.header), call)
        ctx.uses.accounting()?.checkOwner(principal)
        const config = ctx.runtime.lease()
        const ids = config.modelsOf(principal)
        config.release()
        const created = Math.floor(config.acceptedAt.getTime() / 1000)
        const data = ids.map((id) => ({ id, object: 'model', created, owned_by: 'gateway' }))
        return Response.json({ object: 'list', data })
      },
    })
  },
})
