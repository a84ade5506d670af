import {
  definePlugin,
  GatewayError,
  mcpAuthMode,
  mcpAuthModes,
  strictObject,
  Type,
} from 'model-gateway/plugin'

/** The prefix is fixed, so that a registered server cannot name any other variable. */
const REFERENCE = /^env\/(GATEWAY_MCP_SECRET_[A-Z0-9_]{1,64})$/

/** The secret that a reference names, as it is now. Throws GatewayError, which never shows it. */
function readSecret(reference: string, serverKey: string): string {
  const name = REFERENCE.exec(reference)?.[1] ?? ''
  const value = process.env[name]
  if (value !== undefined && /^[\x21-\x7e]+$/.test(value)) return value
  const what = value === undefined || value === '' ? 'is not set' : 'cannot be sent in a header'
  throw new GatewayError('internal_error', `no credentials for ${serverKey}: ${name} ${what}`)
}

const sampleNameMode = mcpAuthMode({
  mode: 'sample_name',
  kind: 'gateway',
  configSchema: strictObject({
    account: Type.String({ pattern: '^[A-Za-z0-9._-]{1,100}$' }),
    secret_ref: Type.String({
      pattern: REFERENCE.source,
      errorMessage: 'must be env/GATEWAY_MCP_SECRET_<NAME>, of A-Z, 0-9 and _',
    }),
  }),
  *validate({ serverUrl, plainHttpAllowed }) {
    if (serverUrl.protocol === 'https:' || plainHttpAllowed) return
    yield { field: 'server_url', message: 'must be https, since a secret is sent to it' }
  },
  headers({ serverKey, authConfig: { account, secret_ref } }) {
    const secret = readSecret(secret_ref, serverKey)
    return { authorization: `Basic ${btoa(`${account}:${secret}`)}`, 'x-account': account }
  },
})

export default definePlugin({
  manifest: {
    id: 'mcp-auth.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'MCP servers that take an account and its secret.',
    config: strictObject({}),
    mcpAuthModes: [sampleNameMode],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(mcpAuthModes, sampleNameMode)
  },
})
