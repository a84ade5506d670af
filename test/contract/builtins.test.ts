import { adminModules } from 'model-gateway/admin'
import { builtins } from '../../plugins/standard/builtins.ts'
import { startTestGateway } from '../harness/gateway.ts'
import { testAdminRoutes } from './admin-module.ts'
import { testPlugin } from './plugin.ts'

for (const plugin of Object.values(builtins)) testPlugin({ plugin })

testAdminRoutes({
  name: 'the admin modules of all built-in plugins',
  openTo: [
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/logout',
    'POST /api/v1/auth/accept-invitation',
  ],
  async open() {
    const gateway = await startTestGateway({})
    const routes = gateway.registry.all(adminModules).flatMap((module) => module.routes)
    return { routes, close: gateway.stop }
  },
})
