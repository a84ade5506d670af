import { expect, test } from 'bun:test'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { features } from 'model-gateway/provider'
import type { Conversion, ConversionRoute, DialectStream, SurfaceCall } from 'model-gateway/surface'
import type { StreamEvent, Usage } from 'model-gateway/wire'
import { eventFaults, replyFaults } from './client-shape.ts'
import { expectNothingIn, frozen } from './kit.ts'
import { expectCutStreamsFail, expectSameStreams, opening } from './surface-dialect.ts'

export interface ConversionSample {
  readonly from: string
  readonly to: string
  /** Requests of `from`, and what each becomes. */
  readonly requests: readonly { readonly from: JsonObject; readonly to: JsonObject }[]
  /** Replies of `to`, with what a caller reads. */
  readonly replies: readonly { readonly to: JsonObject; readonly from: JsonObject }[]
  /** A whole stream of `to`, and how that dialect opens one. */
  readonly stream?: {
    open(options: typeof opening): DialectStream
    readonly events: readonly StreamEvent[]
  }
}

const identity = { publicModel: opening.publicModel, requestId: 'kit-request' }
const usage: Usage = {
  uncachedInput: 3,
  cacheRead: undefined,
  cacheWrite: undefined,
  output: 2,
  reasoning: undefined,
  promptTokens: 3,
  totalTokens: 5,
}

export function testConversion(
  find: () => Conversion,
  read: (body: JsonValue) => SurfaceCall,
  { to, requests, replies, stream }: ConversionSample,
): void {
  const route: ConversionRoute = {
    bound: {
      execute: { [to]: () => Promise.reject(new Error('the kit calls nothing')) },
      supports: features,
      pricing: { pricingProviderId: undefined, model: 'kit-upstream' },
    },
    capabilities: Object.fromEntries([to, ...features].map((flag) => [flag, true])),
    spec: {},
  }

  test('a request becomes one of the other dialect, for each route anew', () => {
    expect(requests.length).toBeGreaterThan(0)
    for (const each of requests) {
      const convert = find().request(frozen(read(each.from)))
      const { body } = convert(route)
      expect(body).toEqual(each.to)
      expect(JSON.parse(JSON.stringify(body))).toEqual(body)
      expect(convert(route).body).toEqual(body)
    }
  })

  test('a reply becomes one of the caller’s dialect, under the model that was asked for', () => {
    expect(replies.length).toBeGreaterThan(0)
    for (const each of replies) {
      const reply = find().reply(frozen(structuredClone(each.to)), usage, identity)
      expect(reply).toMatchObject(each.from)
      expect(JSON.stringify(reply)).toContain(identity.publicModel)
      expectNothingIn(replyFaults(find().from, reply))
      expect(isJsonObject(find().reply(each.to, undefined, identity))).toBe(true)
    }
  })

  if (stream === undefined) return
  const open = () => find().stream(stream.open(opening), identity)

  test('a converted stream is the same, however it is cut', () => {
    const events = expectSameStreams(open, stream.events)
    expectNothingIn(eventFaults(find().from, events))
  })

  test('a converted stream that is cut short fails', () => {
    expectCutStreamsFail(open, stream.events)
  })
}
