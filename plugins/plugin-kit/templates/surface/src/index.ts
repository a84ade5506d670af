import { definePlugin, strictObject } from 'model-gateway/plugin'
import { conversions, surfaces } from 'model-gateway/surface'
import { sampleNameToChat } from './conversion.ts'
import { sampleNameSurface } from './surface.ts'

export default definePlugin({
  manifest: {
    id: 'plugin.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'POST /v1/sample-name: takes a prompt and returns a text.',
    config: strictObject({}),
    needs: [],
  },
  setup(ctx) {
    ctx.provide(surfaces, sampleNameSurface)
    ctx.provide(conversions, sampleNameToChat)
  },
})
