import type { JsonObject } from 'model-gateway/plugin'

interface SeenRequest {
  readonly method: string
  readonly headers: Headers
  /** As it came. */
  readonly text: string
  /** Aborts when the gateway hangs up. */
  readonly signal: AbortSignal
}

type Script = (request: SeenRequest) => Response | Promise<Response>

/** A server that says what a test wants it to, and by itself that all is fine. */
export interface McpUpstream {
  readonly url: string
  script: Script | undefined
  readonly seen: SeenRequest[]
  stop(): Promise<void>
}

export function startMcpUpstream(): McpUpstream {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { method, headers, signal } = request
      const seen = { method, headers, text: await request.text(), signal }
      upstream.seen.push(seen)
      return (await upstream.script?.(seen)) ?? Response.json(fine(idOf(seen.text)))
    },
  })
  const upstream: McpUpstream = {
    url: `http://127.0.0.1:${server.port}/mcp`,
    script: undefined,
    seen: [],
    stop: () => server.stop(true),
  }
  return upstream
}

export function idOf(text: string): string | number {
  const { id = 1 } = (text === '' ? {} : JSON.parse(text)) as { id?: string | number }
  return id
}

/** A result of one text. */
export function fine(id: string | number, text = 'fine'): JsonObject {
  return { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } }
}

export function toolCall(id: unknown = 1, name = 'echo', args: unknown = { message: 'hello' }) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }
}

/** An event stream, whole or in pieces that come one after the other. */
export function events(
  pieces: readonly (string | Uint8Array | number)[],
  headers: Record<string, string> = {},
): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      try {
        for (const piece of pieces) {
          // A number is a pause in milliseconds; one that never ends leaves the stream open.
          if (typeof piece === 'number') {
            await (piece === Number.POSITIVE_INFINITY ? new Promise(() => {}) : Bun.sleep(piece))
          } else {
            controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece)
          }
        }
        controller.close()
      } catch {
        // The reader has gone.
      }
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } })
}

export const event = (message: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${JSON.stringify(message)}\n\n`
