/** An MCP server to try the mode with: `bun stand-in.ts`. Its only tool returns the caller. */
const tools = [
  { name: 'whoami', description: 'Returns the caller.', inputSchema: { type: 'object' } },
]

function resultOf(method: string, account: string | null): unknown {
  if (method === 'initialize') {
    const serverInfo = { name: 'stand-in', version: '1.0.0' }
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
  }
  if (method === 'tools/list') return { tools }
  return { content: [{ type: 'text', text: `called by ${account}` }] }
}

const server = Bun.serve({
  port: Number(process.env.PORT ?? 4011),
  async fetch(request) {
    if (request.headers.get('authorization') !== `Basic ${btoa('ada:try-me')}`) {
      return new Response('wrong credentials', { status: 401 })
    }
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method } = (await request.json()) as { id?: number; method: string }
    if (id === undefined) return new Response(null, { status: 202 })
    const result = resultOf(method, request.headers.get('x-account'))
    return Response.json({ jsonrpc: '2.0', id, result })
  },
})
process.stdout.write(`stand-in listening on ${server.url}\n`)
