import * as host from './entries/host.ts'
import * as http from './entries/http.ts'
import * as identity from './entries/identity.ts'
import * as middleware from './entries/middleware.ts'
import * as observer from './entries/observer.ts'
import * as plugin from './entries/plugin.ts'
import * as provider from './entries/provider.ts'
import * as surface from './entries/surface.ts'

/** The contract modules by import name; see package.json. */
export const contracts: Readonly<Record<string, object>> = {
  'model-gateway/host': host,
  'model-gateway/http': http,
  'model-gateway/identity': identity,
  'model-gateway/middleware': middleware,
  'model-gateway/observer': observer,
  'model-gateway/plugin': plugin,
  'model-gateway/provider': provider,
  'model-gateway/surface': surface,
}
