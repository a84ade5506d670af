import { testMcpAuthMode } from 'model-gateway/testing'
import gatewayBearerToken from './gateway-bearer-token/index.ts'
import gatewayStaticHeader from './gateway-static-header/index.ts'
import none from './none/index.ts'
import oauthObo from './oauth-obo/index.ts'
import userPassthrough from './user-passthrough/index.ts'

const secret_ref = 'env/GATEWAY_MCP_SECRET_CONTRACT'
const env = { GATEWAY_MCP_SECRET_CONTRACT: 'canary-4711' }
const plain = 'http://mcp.example.test/mcp'

testMcpAuthMode({
  plugin: none,
  mode: 'none',
  valid: [{ authConfig: {} }, { authConfig: {}, serverUrl: plain }],
  sends: [{ authConfig: {}, headers: {} }],
})

testMcpAuthMode({
  plugin: gatewayBearerToken,
  mode: 'gateway_bearer_token',
  valid: [{ authConfig: { secret_ref } }],
  invalid: [
    { authConfig: { secret_ref: 'env/PATH' }, field: 'auth_config.secret_ref' },
    { authConfig: { secret_ref }, serverUrl: plain, field: 'server_url' },
  ],
  sends: [{ authConfig: { secret_ref }, env, headers: { authorization: 'Bearer canary-4711' } }],
})

testMcpAuthMode({
  plugin: gatewayStaticHeader,
  mode: 'gateway_static_header',
  valid: [{ authConfig: { secret_ref, header_name: 'X-Api-Key' } }],
  invalid: [
    { authConfig: { secret_ref, header_name: 'host' }, field: 'auth_config.header_name' },
    { authConfig: { secret_ref, header_name: 'x' }, serverUrl: plain, field: 'server_url' },
  ],
  sends: [
    {
      authConfig: { secret_ref, header_name: 'X-Api-Key' },
      env,
      headers: { 'x-api-key': 'canary-4711' },
    },
  ],
})

testMcpAuthMode({
  plugin: userPassthrough,
  mode: 'user_passthrough',
  valid: [{ authConfig: {} }, { authConfig: { header: 'X-Token' } }],
  invalid: [{ authConfig: { header: 'cookie 2' }, field: 'auth_config.header' }],
})

testMcpAuthMode({
  plugin: oauthObo,
  mode: 'oauth_obo',
  valid: [{ authConfig: {} }, { authConfig: { token_exchange: { audience: 'api', secret_ref } } }],
  invalid: [
    {
      authConfig: { token_exchange: { token_url: '' } },
      field: 'auth_config.token_exchange.token_url',
    },
  ],
})
