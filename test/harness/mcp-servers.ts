import { fileURLToPath } from 'node:url'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import type { JsonObject, JsonValue } from '../../kernel/plugin/index.ts'
import { freePort } from './process.ts'

export interface TestMcpServer {
  readonly url: string
  stop(): Promise<void>
}

/** The protocol's own server with everything in it, of the revisions with a handshake. */
export async function startEverythingServer(): Promise<TestMcpServer> {
  const port = freePort()
  const entry = fileURLToPath(
    new URL('../../node_modules/.bin/mcp-server-everything', import.meta.url),
  )
  const child = Bun.spawn(['bun', entry, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const url = `http://127.0.0.1:${port}/mcp`
  for (const deadline = performance.now() + 15_000; ; await Bun.sleep(50)) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      break
    if (performance.now() > deadline) throw new Error('the server did not start')
  }
  return {
    url,
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

/** A server of the revision without a handshake, by the official package. */
export function startModernServer(): TestMcpServer {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'modern', version: '1.0.0' })
      server.registerTool(
        'add',
        {
          title: 'Add',
          description: 'Adds two numbers.',
          inputSchema: fromJsonSchema({
            type: 'object',
            properties: { a: { type: 'number' }, b: { type: 'number' } },
            required: ['a', 'b'],
          }),
        },
        () => ({ content: [{ type: 'text', text: '3' }] }),
      )
      return server
    },
    { legacy: 'reject' },
  )
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => handler.fetch(request),
  })
  return { url: `http://127.0.0.1:${server.port}/mcp`, stop: () => server.stop(true) }
}

/** What a scripted server does with a request, instead of the ordinary. */
export type McpScript = (call: {
  readonly request: Request
  readonly message: JsonObject | undefined
}) => Response | Promise<Response> | undefined

export interface ScriptedMcpServer extends TestMcpServer {
  /** Its tools from now on, all on one page unless there is a script. */
  tools: readonly JsonValue[]
  script: McpScript | undefined
  /** All requests so far, the newest last. */
  readonly seen: {
    readonly method: string
    readonly headers: Headers
    readonly message: JsonObject | undefined
  }[]
}

/** A server with a handshake and a session, whose every answer can be changed. */
export function startScriptedServer(): ScriptedMcpServer {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    async fetch(request) {
      const text = await request.text()
      const message = text === '' ? undefined : (JSON.parse(text) as JsonObject)
      scripted.seen.push({ method: request.method, headers: request.headers, message })
      const scriptedReply = await scripted.script?.({ request, message })
      if (scriptedReply !== undefined) return scriptedReply
      if (message === undefined) return new Response(null, { status: 200 })
      if (message.method === 'initialize') {
        return rpcResult(message, {
          protocolVersion: (message.params as JsonObject).protocolVersion as string,
          capabilities: { tools: {} },
          serverInfo: { name: 'scripted', version: '1' },
        })
      }
      if (message.id === undefined) return new Response(null, { status: 202 })
      return rpcResult(message, { tools: [...scripted.tools] })
    },
  })
  const scripted: ScriptedMcpServer = {
    url: `http://127.0.0.1:${server.port}/mcp`,
    tools: [],
    script: undefined,
    seen: [],
    stop: () => server.stop(true),
  }
  return scripted
}

/** The response to a request, as JSON, within the session `s1`. */
export function rpcResult(message: JsonObject, result: JsonObject): Response {
  return Response.json(
    { jsonrpc: '2.0', id: message.id, result },
    { headers: { 'mcp-session-id': 's1' } },
  )
}
