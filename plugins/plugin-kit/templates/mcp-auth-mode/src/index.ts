import {
  McpSecretReference,
  mcpAuthMode,
  mcpAuthModes,
  readMcpSecret,
  requireHttps,
} from 'model-gateway/mcp'
import { definePlugin, strictObject, Type } from 'model-gateway/plugin'

const sampleNameMode = mcpAuthMode({
  mode: 'sample_name',
  kind: 'gateway',
  configSchema: strictObject({
    account: Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' }),
    secret_ref: McpSecretReference,
  }),
  validate: requireHttps,
  headers({ serverKey, authConfig: { account, secret_ref } }) {
    // Read for each call, so that a changed secret applies at once.
    const secret = readMcpSecret(secret_ref, serverKey)
    return { authorization: `Basic ${btoa(`${account}:${secret}`)}`, 'x-account': account }
  },
})

export default definePlugin({
  manifest: {
    id: 'mcp-auth.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers that accept an account and its secret.',
    config: strictObject({}),
    declares: [{ point: mcpAuthModes, spec: sampleNameMode }],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(mcpAuthModes, sampleNameMode)
  },
})
