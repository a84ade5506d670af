import type { MiddlewareAt } from 'model-gateway/middleware'
import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { SurfaceDoor } from 'model-gateway/surface'
import { decodeSse, setMembers } from 'model-gateway/wire'
import { targetOf } from './_shared/request.ts'
import { countedRequest } from './count.ts'

type HttpCall = Parameters<SurfaceDoor['read']>[0]

const STREAMED = 'streamGenerateContent'
const COUNTED = 'countTokens'
const METHODS: ReadonlySet<string> = new Set(['generateContent', STREAMED, COUNTED])

/** A token count in progress. */
interface Counting {
  readonly request: JsonObject
  /** The caller has access to the model, and a route could accept the prompt. */
  isAllowed: boolean
}

/**
 * Turns the path into `model` and `stream` of the request. A stream is sent as events or, without
 * `alt=sse`, as one JSON array. Token counts end before a provider is called, because a surface has
 * one operation, and they do not affect budgets and spend. `tokensOf` answers them.
 */
export function createGoogleDoor(tokensOf: (request: JsonObject) => Promise<number>) {
  const counts = new Map<string, Counting>()

  const door: SurfaceDoor = {
    async read(call) {
      const { model, method } = targetFor(call)
      const text = await call.text()
      const body = parsed(text)
      // Errors are reported where all bodies are read.
      if (!isJsonObject(body)) return text
      if (method !== COUNTED) return setMembers(text, { model, stream: method === STREAMED })
      const request = countedRequest(body)
      counts.set(call.requestId, { request, isAllowed: false })
      return JSON.stringify({ ...request, model, stream: false })
    },
    async write(reply, call) {
      const counting = counts.get(call.requestId)
      counts.delete(call.requestId)
      if (counting?.isAllowed) return await counted(counting.request, reply)
      const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream')
      return isStream && !wantsEvents(call) ? asArray(reply) : reply
    },
  }

  async function counted(request: JsonObject, { headers }: Response): Promise<Response> {
    const named = new Headers(headers)
    named.set('x-gateway-estimated', 'true')
    return Response.json({ totalTokens: await tokensOf(request) }, { headers: named })
  }

  const stopCounts: MiddlewareAt<'admit'> = {
    id: 'google.count_tokens',
    around: 'admit',
    appliesTo: ['google'],
    async handle({ requestId }, next) {
      const counting = counts.get(requestId)
      if (counting === undefined) return void (await next())
      counting.isAllowed = true
      throw new GatewayError('invalid_request', 'countTokens failed: the caller gets an estimate')
    },
  }

  return { door, stopCounts }
}

function targetFor({ params }: HttpCall) {
  const target = targetOf(params['*'] ?? '')
  if (target !== undefined && METHODS.has(target.method)) return target
  throw new GatewayError(
    'not_found',
    `the path must be /models/MODEL followed by ${[...METHODS].map((name) => `:${name}`).join(', ')}`,
  )
}

function wantsEvents(call: HttpCall): boolean {
  const { searchParams } = call.url()
  return (searchParams.get('alt') ?? searchParams.get('$alt'))?.toLowerCase() === 'sse'
}

/** Responses as the elements of one JSON array. */
function asArray(reply: Response): Response {
  const batches = decodeSse(reply.body ?? new ReadableStream())[Symbol.asyncIterator]()
  const utf8 = new TextEncoder()
  let separator = '['
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value = [] } = await batches.next()
      let text = ''
      for (const { data } of value) {
        text += separator + data
        separator = ',\r\n'
      }
      if (done) text += separator === '[' ? '[]' : ']'
      if (text !== '') controller.enqueue(utf8.encode(text))
      if (done) controller.close()
    },
    async cancel() {
      await batches.return?.()
    },
  })
  const headers = new Headers(reply.headers)
  headers.set('content-type', 'application/json; charset=utf-8')
  return new Response(body, { status: reply.status, headers })
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
