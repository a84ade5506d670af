import { GatewayError } from 'model-gateway/plugin'
import { createSseBlocks, withData } from 'model-gateway/wire'
import type { McpCall } from './exchange.ts'
import { essence } from './headers.ts'
import { withoutTools } from './tool-list.ts'

/** Maximum characters of a tool list or an event that can be filtered. */
const MOST_CHARS = 16 * 1024 * 1024

/**
 * The server's reply without the tools that its rule hides: the reply to `tools/list`, and every
 * list in an event stream that the caller opened with GET, where it can be resumed. All other
 * replies, and those of servers without a rule, are returned as they are.
 */
export function offeredOnly(call: McpCall, response: Response): Response {
  const { server, request, incoming } = call
  const { body } = response
  const lists = request?.method === 'tools/list' || incoming.method === 'GET'
  if (server.offers === undefined || !lists || body === null || !response.ok) return response
  const events = essence(response.headers.get('content-type')) === 'text/event-stream'
  const offered = (name: string) => server.offers?.(name) ?? true
  const headers = new Headers(response.headers)
  // It is the length before filtering.
  headers.delete('content-length')
  const filter = events ? eventFilter(offered) : jsonFilter(offered)
  return new Response(body.pipeThrough(filter), { status: response.status, headers })
}

type Filter = TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>

const utf8 = new TextEncoder()

function jsonFilter(offered: (name: string) => boolean): Filter {
  const decoder = new TextDecoder()
  let text = ''
  return new TransformStream({
    transform(bytes) {
      text += decoder.decode(bytes, { stream: true })
      if (text.length > MOST_CHARS) throw tooLong()
    },
    flush(controller) {
      controller.enqueue(utf8.encode(withoutTools(text + decoder.decode(), offered)))
    },
  })
}

function eventFilter(offered: (name: string) => boolean): Filter {
  const decoder = new TextDecoder()
  const blocks = createSseBlocks()
  return new TransformStream({
    transform(bytes, controller) {
      const passed = blocks.push(decoder.decode(bytes, { stream: true })).map((block) => {
        if (block.data === undefined) return block.raw
        const data = withoutTools(block.data, offered)
        // Each line feed starts a new data line of an event; JSON means the same without them.
        return data === block.data ? block.raw : withData(block, data.replaceAll(/[\r\n]/g, ' '))
      })
      if (blocks.pending > MOST_CHARS) throw tooLong()
      if (passed.length > 0) controller.enqueue(utf8.encode(passed.join('')))
    },
  })
}

function tooLong(): GatewayError {
  return new GatewayError(
    'upstream_transport',
    `the server sent a tool list of more than ${MOST_CHARS} characters, which is too long to filter`,
  )
}
