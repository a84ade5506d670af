import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { httpRoutes } from 'model-gateway/http'
import { GatewayError, isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { features } from 'model-gateway/provider'
import {
  type CallError,
  conversions,
  dialects,
  type Surface,
  type SurfaceCall,
  surfaces,
} from 'model-gateway/surface'
import { implementationFault } from '../../kernel/registry/shape.ts'
import { expectNothingIn, TEST_MS } from './kit.ts'
import { type PluginBench, type PluginBenchOptions, setUpPlugin } from './plugin-bench.ts'
import { type ConversionSample, testConversion } from './surface-conversion.ts'
import { type DialectSample, testDialect } from './surface-dialect.ts'
import { oddBodies, spoiltBodies } from './surface-odd.ts'

export interface SurfaceSample {
  /** Requests that it takes; the first one has all that a request can have, where there is one. */
  readonly takes: readonly JsonObject[]
  /** Bodies that it refuses, each with the field that is wrong. */
  readonly refuses: readonly { readonly body: JsonValue; readonly field: string }[]
}

export interface SurfaceKit extends PluginBenchOptions {
  /** By id, for each surface that the plugin provides. */
  readonly surfaces?: Readonly<Record<string, SurfaceSample>>
  /** By id, for each dialect that the plugin provides. */
  readonly dialects?: Readonly<Record<string, DialectSample>>
  /** One for each conversion that the plugin provides. */
  readonly conversions?: readonly ConversionSample[]
}

/**
 * What every surface, dialect and conversion has to do, as tests. Call it once for a plugin.
 *
 * @example
 * testSurface({
 *   plugin,
 *   surfaces: { rerank: { takes: [request], refuses: [{ body: {}, field: 'model' }] } },
 *   dialects: { rerank: { replies: [reply] } },
 * })
 */
export function testSurface(kit: SurfaceKit): void {
  describe(`contract of the APIs of ${kit.plugin.manifest.id}`, () => {
    let bench: PluginBench

    beforeAll(async () => {
      bench = await setUpPlugin(kit)
    }, TEST_MS)
    afterAll(() => bench?.dispose())

    test('each is well-formed, claims nothing twice and has a sample', () => {
      if (bench.error !== undefined) throw bench.error
      const points: readonly string[] = [surfaces, dialects, conversions, httpRoutes].map(
        ({ name }) => name,
      )
      const wrong: string[] = []
      const claimed = new Set<string>()
      for (const { point, implementation } of bench.provided) {
        if (!points.includes(point.name)) continue
        const fault = implementationFault(point, implementation)
        if (fault !== undefined) wrong.push(fault)
        for (const claim of point.claims?.(implementation) ?? []) {
          if (claimed.has(claim)) wrong.push(`${claim} is claimed twice`)
          claimed.add(claim)
        }
      }
      const pair = ({ from, to }: { from: string; to: string }) => `${from} to ${to}`
      expectNothingIn(wrong)
      expect(bench.of(surfaces).map(({ id }) => id)).toEqual(Object.keys(kit.surfaces ?? {}))
      expect(bench.of(dialects).map(({ id }) => id)).toEqual(Object.keys(kit.dialects ?? {}))
      expect(bench.of(conversions).map(pair)).toEqual((kit.conversions ?? []).map(pair))
    })

    for (const [id, sample] of Object.entries(kit.surfaces ?? {})) {
      describe(`surface ${id}`, () =>
        testOneSurface(() => one(bench.of(surfaces), (each) => each.id === id), sample))
    }
    for (const [id, sample] of Object.entries(kit.dialects ?? {})) {
      describe(`dialect ${id}`, () =>
        testDialect(() => one(bench.of(dialects), (each) => each.id === id), sample))
    }
    for (const sample of kit.conversions ?? []) {
      const { from, to } = sample
      describe(`conversion from ${from} to ${to}`, () =>
        testConversion(
          () => one(bench.of(conversions), (each) => each.from === from && each.to === to),
          (body) =>
            readBy(
              one(bench.of(surfaces), (each) => each.dialect === from),
              body,
            ),
          sample,
        ))
    }
  })
}

function one<T>(all: readonly T[], isIt: (each: T) => boolean): T {
  const found = all.find(isIt)
  if (found === undefined) throw new Error('the plugin does not provide it')
  return found
}

function readBy(surface: Surface, body: JsonValue): SurfaceCall {
  // A surface may correct its request: each reading gets its own.
  return surface.read({
    json: structuredClone(body),
    rawBody: JSON.stringify(body),
    header: () => null,
  })
}

/** What is wrong with a reading of a body that may be anything. */
function readingFault(surface: Surface, body: JsonValue): string | undefined {
  let call: unknown
  try {
    call = readBy(surface, body)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return undefined
    return `throws ${error}`
  }
  return callFault(call)
}

function callFault(call: unknown): string | undefined {
  if (call instanceof Promise) return 'gives a promise'
  const { model, stream, features: needed, exposedToolCount } = (call ?? {}) as Partial<SurfaceCall>
  if (typeof model !== 'string' || model === '') return 'gives a call without a model'
  if (typeof stream !== 'boolean') return 'gives a call that does not say whether it streams'
  if (!Array.isArray(needed) || needed.some((each) => !features.includes(each))) {
    return 'gives a call without a list of features'
  }
  if (exposedToolCount !== undefined && !Number.isSafeInteger(exposedToolCount)) {
    return 'gives a call whose number of tools is not a number'
  }
  return undefined
}

const errors: readonly CallError[] = [
  { code: 'upstream_timeout', message: 'a "quoted" line\nand größer \\ another' },
  { code: 'invalid_request', message: 'model: is missing', type: 'invalid_request_error' },
  { code: 'x', message: '', details: { upstream_status: 500, list: [null, { deep: 'er' }] } },
]

function testOneSurface(find: () => Surface, { takes, refuses }: SurfaceSample): void {
  test('read gives the call of a request, twice the same one', () => {
    expect(takes.length).toBeGreaterThan(0)
    for (const body of takes) {
      const call = readBy(find(), body)
      expectNothingIn([callFault(call) ?? ''])
      expect(call.model).toBe(body.model as string)
      expect(readBy(find(), body)).toEqual(call)
    }
  })

  test('read takes fields that it does not know', () => {
    for (const body of takes) {
      const call = readBy(find(), { ...body, kit_unknown: { deep: [null, 'text', 7] } })
      expect(call.model).toBe(body.model as string)
    }
  })

  test('read refuses with invalid_request, and names the field', () => {
    const noModel = [undefined, null, '', 7, [], {}].flatMap((model) =>
      takes.map((body) => ({ body: { ...body, model } as JsonObject, field: 'model' })),
    )
    for (const { body, field } of [...noModel, ...refuses]) {
      let error: unknown
      try {
        readBy(find(), body)
      } catch (thrown) {
        error = thrown
      }
      if (!(error instanceof GatewayError)) {
        throw new Error(`${JSON.stringify(body)} is not refused for ${field}`, { cause: error })
      }
      expect([error.code, error.message]).toEqual([
        'invalid_request',
        expect.stringContaining(field),
      ])
    }
  })

  test('read gives a call or refuses, whatever the body is', () => {
    const bodies: JsonValue[] = [...oddBodies, ...takes.flatMap(spoiltBodies)]
    const wrong = bodies.map((body) => {
      const fault = readingFault(find(), body)
      if (fault !== undefined) return `${JSON.stringify(body)}: it ${fault}`
      return isJsonObject(body) || isRefused(find(), body) ? '' : `it takes ${JSON.stringify(body)}`
    })
    expectNothingIn(wrong.filter((fault) => fault !== ''))
  })

  test('errors are JSON with message and request id, whole and as an event', () => {
    const surface = find()
    for (const error of surface.error === undefined ? [] : errors) {
      const { body, event } = surface.error?.(error, 'kit-request') ?? {}
      expect(JSON.parse(JSON.stringify(body))).toEqual(body)
      for (const text of [JSON.stringify(body), event]) {
        expect(text).toContain(JSON.stringify(error.message))
        expect(text).toContain('kit-request')
      }
      expect(event).toEndWith('\n\n')
    }
    const headers = surface.headers?.('kit-request') ?? {}
    expect([...new Headers(headers)]).toHaveLength(Object.keys(headers).length)
  })
}

function isRefused(surface: Surface, body: JsonValue): boolean {
  try {
    readBy(surface, body)
    return false
  } catch {
    return true
  }
}
