/** A mock MCP server to try the mode with: `bun stand-in.ts`. It accepts each token once. */
import { claimsOf } from './src/token.ts'

const key = process.env.GATEWAY_MCP_SECRET_GREETER ?? 'try-me'
const seen = new Set<string>()

/** The reason for a 401, or `undefined`. */
function refusal(authorization: string | null): string | undefined {
  const claims = claimsOf(authorization?.replace(/^Bearer /, '') ?? '', key)
  if (claims === undefined) return 'the token is not signed'
  if (claims.aud !== 'greeter') return 'the token has another audience'
  if (claims.exp < Date.now() / 1000) return 'the token has expired'
  if (seen.has(claims.jti)) return 'the token was used before'
  seen.add(claims.jti)
  return undefined
}

const tool = {
  name: 'greet',
  description: 'Returns a greeting.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
}

function resultOf(method: string, params: { arguments?: { name?: string } } = {}): object {
  if (method === 'initialize') {
    return {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'greeter', version: '1.0.0' },
    }
  }
  if (method === 'tools/list') return { tools: [tool] }
  const text = `Hello, ${params.arguments?.name ?? 'you'}!`
  return method === 'tools/call' ? { content: [{ type: 'text', text }] } : {}
}

const server = Bun.serve({
  port: Number(process.env.PORT ?? 4011),
  async fetch(request) {
    const why = refusal(request.headers.get('authorization'))
    if (why !== undefined) return new Response(why, { status: 401 })
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method, params } = await request.json()
    if (id === undefined) return new Response(null, { status: 202 })
    return Response.json({ jsonrpc: '2.0', id, result: resultOf(method, params) })
  },
})
process.stdout.write(`the stand-in listens on ${server.url}\n`)
