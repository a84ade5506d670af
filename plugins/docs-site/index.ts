import { httpRoutes } from 'model-gateway/http'
import { definePlugin, strictObject } from 'model-gateway/plugin'
import { guideRoutes } from './guide.ts'

/** The documentation as a site with search, at `/docs/guide`. */
export default definePlugin({
  manifest: {
    id: 'plugin.docs-site',
    version: '0.1.0',
    contract: 1,
    summary: 'The documentation with search, at /docs/guide; works offline.',
    config: strictObject({}),
    needs: [],
  },
  setup({ provide }) {
    for (const route of guideRoutes()) provide(httpRoutes, route)
  },
})
