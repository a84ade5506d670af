import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { DialectStream } from 'model-gateway/surface'
import {
  createDialectStream,
  isHeartbeat,
  isPresent,
  readInBandError,
  readObject,
  type StreamEvent,
  type StreamRules,
  type StreamState,
  streamEvent,
  type Usage,
} from 'model-gateway/wire'
import { imagesUsage } from './usage.ts'

/** `image_generation.completed`, or `image_edit.completed`: https://platform.openai.com/docs/api-reference/images-streaming */
const COMPLETED = /\.completed$/
const KIND = 'image_generation.completed'
const DONE = '[DONE]'

/** Images in progress: partial ones, then each complete one; the last ends the stream. */
export function createImagesStream(): DialectStream {
  return createDialectStream(imagesRules)
}

function imagesRules(state: StreamState): StreamRules {
  let pictures = 0
  let usage: Usage | undefined
  /**
   * From the first complete image on, each event waits for the next one, because the last one ends
   * the stream.
   */
  let held: StreamEvent | undefined
  let isWhole = false

  function normalise(event: StreamEvent): StreamEvent | undefined {
    if (event.data.trim() === DONE) return finish()
    const body = readObject(event)
    if (body === undefined) {
      return isHeartbeat(event)
        ? undefined
        : state.violated('malformed event', 'the data is not a JSON object')
    }
    if (isPresent(body.error) || body.type === 'error') {
      const { event: named, failure } = readInBandError(event, body, [])
      state.fail(failure)
      return named
    }
    isWhole = COMPLETED.test(String(body.type))
    if (isWhole) {
      pictures += 1
      usage = imagesUsage(body, pictures) ?? usage
    } else if (held === undefined) return event
    const before = held
    held = event
    return before
  }

  function finish(): undefined {
    if (held === undefined || !isWhole) {
      return state.violated('premature end', 'the last image is incomplete')
    }
    return state.complete([held])
  }

  return { normalise, end: finish, usage: () => usage, invokedToolCount: () => 0 }
}

/** Members that all images of a reply share; others belong to one image. */
const COMMON = ['background', 'output_format', 'quality', 'size', 'usage'] as const

export function collectImages(events: readonly StreamEvent[]): JsonObject {
  const data: JsonValue[] = []
  let head: JsonObject = {}
  for (const event of events) {
    const body = readObject(event)
    if (body === undefined || !COMPLETED.test(String(body.type))) continue
    const { type: _, created_at, ...rest } = body
    const isCommon = ([name]: [string, unknown]) => COMMON.some((each) => each === name)
    const members = Object.entries(rest)
    data.push(Object.fromEntries(members.filter((member) => !isCommon(member))))
    const common = Object.fromEntries(members.filter(isCommon))
    head = { ...head, ...(isPresent(created_at) && { created: created_at }), ...common }
  }
  return { ...head, data }
}

export function tellImages({ data, created, ...rest }: JsonObject): StreamEvent[] {
  const common = Object.fromEntries(
    COMMON.flatMap((name) => (name in rest ? [[name, rest[name]]] : [])),
  )
  return (Array.isArray(data) ? data.filter(isJsonObject) : []).map((picture) =>
    streamEvent(
      JSON.stringify({
        type: KIND,
        ...picture,
        ...(created !== undefined && { created_at: created }),
        ...common,
      }),
      KIND,
    ),
  )
}
