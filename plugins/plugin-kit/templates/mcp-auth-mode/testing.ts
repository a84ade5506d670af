import { testMcpAuthMode, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'

const authConfig = { account: 'ada', secret_ref: 'env/GATEWAY_MCP_SECRET_SAMPLE_NAME' }

testPlugin({ plugin })

testMcpAuthMode({
  plugin,
  mode: 'sample_name',
  valid: [{ authConfig }],
  invalid: [
    { authConfig: { ...authConfig, secret_ref: 'env/PATH' }, field: 'auth_config.secret_ref' },
    { authConfig: { ...authConfig, account: 'a:b' }, field: 'auth_config.account' },
    { authConfig, serverUrl: 'http://mcp.example.test/', field: 'server_url' },
  ],
  sends: [
    {
      authConfig,
      env: { GATEWAY_MCP_SECRET_SAMPLE_NAME: 'canary-4711' },
      headers: { authorization: `Basic ${btoa('ada:canary-4711')}`, 'x-account': 'ada' },
    },
  ],
})
