import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  type AccountingSink,
  accountingSinks,
  type CommittedSettlement,
  type SettledCall,
} from 'model-gateway/accounting'
import { expectNothingIn, frozen, TEST_MS, thrownBy, within } from './kit.ts'
import { type PluginBench, type PluginBenchOptions, setUpPlugin } from './plugin-bench.ts'

export interface AccountingSinkKit extends PluginBenchOptions {
  /** What the sink has written so far: one text for each call, in any order. */
  written(): readonly string[] | Promise<readonly string[]>
}

/** A call as the gateway tells a sink of it. */
export function settledCall(more: Partial<SettledCall> = {}): SettledCall {
  return frozen({
    requestId: 'request-1',
    operation: 'chat_completions',
    requestedModel: 'fast',
    resolvedModel: 'small-model',
    provider: 'some-provider',
    upstreamModel: 'small-model-2',
    dispatchedAt: '2026-01-31T12:00:00.000Z',
    pricing: { pricingProviderId: 'some-vendor', model: 'small-model-2' },
    usage: {
      uncachedInput: 16,
      cacheRead: 8,
      cacheWrite: undefined,
      output: 17,
      reasoning: 5,
      promptTokens: 24,
      totalTokens: 41,
    },
    configVersion: 'v1',
    billingModifiers: [],
    succeeded: true,
    caller: {
      apiKeyId: '0199e7a4-0000-7000-8000-000000000001',
      ownershipScopeKey: 'user:0199e7a4-0000-7000-8000-000000000002',
      owner: {
        kind: 'user',
        userId: '0199e7a4-0000-7000-8000-000000000002',
        email: 'ada@example.com',
        name: 'Ada, "größer"\n海',
        team: undefined,
        requestLoggingEnabled: true,
      },
    },
    ...more,
  })
}

const outcomes: readonly CommittedSettlement[] = frozen([
  {
    kind: 'ledger',
    pricingStatus: 'priced',
    unpricedReason: undefined,
    costPicoUsd: 9_007_199_254_740_993n,
  },
  {
    kind: 'ledger',
    pricingStatus: 'unpriced',
    unpricedReason: 'model_not_found',
    costPicoUsd: undefined,
  },
  {
    kind: 'ledger',
    pricingStatus: 'usage_missing',
    unpricedReason: undefined,
    costPicoUsd: undefined,
  },
  { kind: 'rejected', costPicoUsd: 12_345n },
])

/** What every accounting sink has to do, as tests. Call it once for a plugin. */
export function testAccountingSink(kit: AccountingSinkKit): void {
  describe(`contract of the accounting sink of ${kit.plugin.manifest.id}`, () => {
    let bench: PluginBench
    let sink: AccountingSink

    beforeAll(async () => {
      bench = await setUpPlugin(kit)
      const [found] = bench.of(accountingSinks)
      if (found === undefined) throw bench.error ?? new Error('it provides no accounting sink')
      sink = found
    }, TEST_MS)
    afterAll(() => bench?.dispose())

    const tell = (call: SettledCall, outcome: CommittedSettlement) =>
      within('record ends within its ten seconds', sink.record(call, outcome), 10_000)
    const linesOf = async (requestId: string) =>
      (await kit.written()).filter((line) => line.includes(requestId))

    test(
      'it takes every outcome, frozen as it comes, and has written it when it says so',
      async () => {
        for (const [index, outcome] of outcomes.entries()) {
          const requestId = `outcome-${index}-x`
          await tell(
            settledCall({ requestId, usage: index === 2 ? undefined : settledCall().usage }),
            outcome,
          )
          expect(await linesOf(requestId)).toHaveLength(1)
        }
      },
      TEST_MS,
    )

    test('a cost is kept to the last digit', async () => {
      const requestId = 'large-cost-x'
      await tell(settledCall({ requestId }), outcomes[0] as CommittedSettlement)
      expect((await linesOf(requestId)).join()).toContain('9007199254740993')
    })

    test(
      'sixteen at a time are written once each',
      async () => {
        const ids = Array.from({ length: 64 }, (_, index) => `many-${index}-x`)
        for (let at = 0; at < ids.length; at += 16) {
          await Promise.all(
            ids
              .slice(at, at + 16)
              .map((requestId) =>
                tell(settledCall({ requestId }), outcomes[3] as CommittedSettlement),
              ),
          )
        }
        const lines = await kit.written()
        const counts = ids.map((id) => lines.filter((line) => line.includes(id)).length)
        expect(counts).toEqual(ids.map(() => 1))
      },
      TEST_MS,
    )

    test('a call that fails halfway leaves the next one alone', async () => {
      const broken = frozen({ kind: 'ledger' }) as unknown as CommittedSettlement
      await thrownBy(() => tell(settledCall({ requestId: 'broken-x' }), broken))
      await tell(settledCall({ requestId: 'after-x' }), outcomes[3] as CommittedSettlement)
      expect(await linesOf('after-x')).toHaveLength(1)
    })

    test(
      'what was written is there after it was disposed and set up again',
      async () => {
        const before = (await kit.written()).length
        expectNothingIn(before > 0 ? [] : ['nothing was written'])
        await bench.dispose()
        bench = await setUpPlugin(kit)
        sink = bench.of(accountingSinks)[0] as AccountingSink
        await tell(settledCall({ requestId: 'restarted-x' }), outcomes[3] as CommittedSettlement)
        expect((await kit.written()).length).toBe(before + 1)
      },
      TEST_MS,
    )
  })
}
