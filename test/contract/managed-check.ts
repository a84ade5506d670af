import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  CheckFailure,
  type CheckFailureReason,
  type CheckVerdict,
  type GuardPhase,
  guardPhases,
  type ManagedCheck,
  type ManagedCheckSpec,
  managedCheckKinds,
} from 'model-gateway/guardrail'
import type { JsonObject } from 'model-gateway/plugin'
import {
  bytes,
  errorStatus,
  html,
  invalidUtf8,
  json,
  neverAnswers,
  type Reply,
  redirect,
  resetBeforeHeaders,
  startUpstream,
  type Upstream,
} from '../harness/upstream.ts'
import { type AnyPlugin, expectNothingIn, TEST_MS, textOf, thrownBy, within } from './kit.ts'
import { type PluginBench, setUpPlugin } from './plugin-bench.ts'
import { loaded, openObjects, secretsIn } from './schemas.ts'

export interface ManagedCheckKit {
  readonly plugin: AnyPlugin
  /** As the plugin's manifest names it. */
  readonly kind: string
  /**
   * The section of the config file that has the name of the kind, for a service at this origin
   * (`http://127.0.0.1:port`): `literal.VALUE` for a secret.
   */
  config(serviceUrl: string): JsonObject
  /** What the service says when it lets a text pass, when it does not, and when it changes it. */
  readonly answers: {
    readonly allow: Reply
    readonly deny: Reply
    readonly transformed?: { readonly reply: Reply; readonly text: string }
  }
  /** Malformed answers with status 200, in addition to the usual ones. */
  readonly malformed?: readonly Reply[]
}

const notAnswers: readonly Reply[] = [
  html,
  invalidUtf8,
  json([]),
  json(null),
  json('allow'),
  bytes('{"verdict":', 'application/json'),
  bytes('', 'application/json'),
]

const reasons: readonly (readonly [number, CheckFailureReason])[] = [
  [401, 'managed.access_denied'],
  [403, 'managed.access_denied'],
  [429, 'managed.rate_limited'],
  [500, 'managed.unavailable'],
  [503, 'managed.unavailable'],
]

/** Not ASCII, with what JSON escapes, and long enough that a cut would show. */
const TEXT = `größer "海" \\ ${'and so on, '.repeat(400)}\nthe end`
const CANARY = 'canary-text-5d1f7c'

/** What every kind of managed check has to do, as tests. Call it once for a kind. */
export function testManagedCheck(kit: ManagedCheckKit): void {
  const spec = kit.plugin.manifest.declares?.find(
    ({ point, spec }) =>
      point.name === managedCheckKinds.name && (spec as ManagedCheckSpec).kind === kit.kind,
  )?.spec as ManagedCheckSpec | undefined

  describe(`contract of the managed check ${kit.kind}`, () => {
    let service: Upstream
    let bench: PluginBench
    let check: ManagedCheck
    let config: unknown

    async function create(): Promise<ManagedCheck> {
      const kind = bench.of(managedCheckKinds).find((each) => each.kind === kit.kind)
      if (kind === undefined) throw bench.error ?? new Error(`nothing makes checks of ${kit.kind}`)
      return await kind.create(config)
    }
    beforeAll(async () => {
      service = await startUpstream()
      if (spec === undefined) throw new Error(`the manifest declares no managed check ${kit.kind}`)
      config = loaded(spec.config, kit.config(new URL(service.url).origin), kit.kind)
      bench = await setUpPlugin({ plugin: kit.plugin })
      check = await create()
    }, TEST_MS)
    beforeEach(() => service.clear())
    afterAll(async () => {
      await check?.dispose?.()
      await bench?.dispose()
      await service?.stop()
    })

    const phase = (spec?.phases[0] ?? 'prompt') as GuardPhase
    const judge = (text: string, signal = new AbortController().signal) =>
      within('the check answers', check.evaluate({ phase, text, signal }), 10_000)
    const failureOf = (reply: Reply, text = TEXT) => {
      service.always(reply)
      return thrownBy(() => judge(text))
    }

    test('it names its phases, and its schema refuses unknown keys', () => {
      for (const each of spec?.phases ?? []) expect(guardPhases).toContain(each)
      expect(spec?.phases.length).toBeGreaterThan(0)
      expect(openObjects(spec?.config, kit.kind)).toEqual([])
    })

    test('it says what the service says, in every phase', async () => {
      const { allow, deny, transformed } = kit.answers
      for (const each of spec?.phases ?? []) {
        const ask = async (reply: Reply) => {
          service.always(reply)
          return await check.evaluate({
            phase: each,
            text: TEXT,
            signal: new AbortController().signal,
          })
        }
        expect(await ask(allow)).toEqual({ action: 'allow' })
        const denial: CheckVerdict = await ask(deny)
        expect(denial).toEqual({ action: 'deny', reasonCode: expect.any(String) })
        expect(denial.action === 'deny' && denial.reasonCode).toMatch(/^[a-z0-9_]+(\.[a-z0-9_]+)+$/)
        if (transformed === undefined) continue
        expect(await ask(transformed.reply)).toEqual({
          action: 'transformed',
          text: transformed.text,
        })
      }
    })

    test('the service gets the whole text', async () => {
      service.always(kit.answers.allow)
      await judge(TEXT)
      const sent = service.journal.calls.map(
        ({ rawBody, body }) => rawBody + textsIn(body).join(''),
      )
      expect(sent.some((text) => text.includes(TEXT))).toBe(true)
    })

    test(
      'a malformed answer is a CheckFailure managed.malformed_response',
      async () => {
        for (const reply of [...notAnswers, ...(kit.malformed ?? [])]) {
          expectReason(await failureOf(reply), 'managed.malformed_response')
        }
      },
      TEST_MS,
    )

    test(
      'an error status is a CheckFailure with the reason of that status',
      async () => {
        for (const [status, reason] of reasons) {
          expectReason(await failureOf(errorStatus(status)), reason)
        }
      },
      TEST_MS,
    )

    test(
      'a broken connection is a CheckFailure managed.unavailable',
      async () => {
        expectReason(await failureOf(resetBeforeHeaders), 'managed.unavailable')
      },
      TEST_MS,
    )

    test(
      'it follows no redirect',
      async () => {
        const elsewhere = `${service.url}/elsewhere`
        const error = await failureOf(async (x) => {
          if (x.call.path.endsWith('/elsewhere')) return kit.answers.allow(x)
          await x.respond(307, { location: elsewhere }, '')
        })
        expectReason(error)
        expect(service.journal.calls.filter(({ path }) => path.endsWith('/elsewhere'))).toEqual([])
        expectReason(await failureOf(redirect))
      },
      TEST_MS,
    )

    test(
      'an abort ends the call of the service, whether its answer has begun or not',
      async () => {
        const halfAnswer: Reply = async (x) => {
          await x.begin(200, { 'content-type': 'application/json' })
          await x.write('{"')
        }
        for (const [index, reply] of [neverAnswers, halfAnswer].entries()) {
          service.clear()
          service.always(reply)
          const stop = new AbortController()
          const verdict = thrownBy(() => check.evaluate({ phase, text: TEXT, signal: stop.signal }))
          const seen = await within('the service is called', service.received(0))
          if (index > 0) await Bun.sleep(20)
          stop.abort()
          expectReason(await within('the call ends when its signal aborts', verdict))
          await within('the connection to the service is closed', seen.ended)
          expect(seen.outcome).toBe('aborted')
        }
      },
      TEST_MS,
    )

    test(
      'verdicts of calls at once do not change places',
      async () => {
        service.always(async (x) => {
          if (!x.call.rawBody.includes('pass')) return kit.answers.deny(x)
          await x.sleep(60)
          await kit.answers.allow(x)
        })
        const texts = ['pass 1', 'stop 1', 'pass 2', 'stop 2']
        const verdicts = await Promise.all(texts.map((text) => judge(text)))
        expect(verdicts.map(({ action }) => action)).toEqual(['allow', 'deny', 'allow', 'deny'])
      },
      TEST_MS,
    )

    test(
      'neither the text nor a secret comes back in a failure or a log line',
      async () => {
        const echo: Reply = ({ call, respond }) =>
          respond(
            400,
            { 'content-type': 'application/json' },
            JSON.stringify({ message: call.rawBody, error: call.headers }),
          )
        const error = await failureOf(echo, CANARY)
        expectReason(error)
        const told = textOf(error) + bench.output()
        expectNothingIn(
          [CANARY, ...secretsIn(config)]
            .filter((value) => value !== '' && told.includes(value))
            .map((value) => (value === CANARY ? 'the text was quoted' : 'a secret was shown')),
        )
      },
      TEST_MS,
    )

    test('disposing twice is harmless', async () => {
      const other = await create()
      await other.dispose?.()
      await other.dispose?.()
    })
  })
}

function expectReason(error: unknown, reason?: CheckFailureReason): void {
  if (!(error instanceof CheckFailure)) {
    throw new Error('a check that cannot judge has to throw CheckFailure', { cause: error })
  }
  if (reason !== undefined) expect(error.reason).toBe(reason)
}

/** All texts in a JSON value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
