import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { serviceAccount } from '../../request-log/testing.ts'
import { type Bench, idOf, openBench } from '../testing.ts'

const LEADERBOARD = '/api/v1/admin/observability/leaderboard'
const HARNESSES = '/api/v1/admin/observability/harness-usage'

interface Leaderboard {
  readonly window_start: string
  readonly window_end: string
  readonly chart_users: readonly { user_id: string; user_name: string }[]
  readonly series: readonly {
    bucket_start: string
    values: readonly { user_id: string; spend_usd: string }[]
  }[]
  readonly leaders: readonly {
    rank: number
    user_name: string
    total_spend_usd: string
    total_requests: number
    most_used_model: string
    tool_cardinality_averages: Record<string, number | null>
  }[]
}

interface HarnessUsage {
  readonly chart_harnesses: readonly { agent_harness_key: string }[]
  readonly series: readonly { values: readonly { request_count: number }[] }[]
  readonly leaders: readonly { rank: number; agent_harness_key: string; request_count: number }[]
}

let bench: Bench
beforeEach(async () => {
  bench = await openBench()
})
afterEach(() => bench.stop())

/** Users with their spend in the current half day, by name. */
async function users(...list: readonly [name: string, picoUsd: number, requests: number][]) {
  for (const [n, [name, picoUsd, requests]] of list.entries()) {
    await bench.addUser(idOf(n), name)
    await bench.spend({ owner: idOf(n), picoUsd, requests })
  }
}

describe('the leaderboard', () => {
  test.each([
    ['spend', [['a', 1, 9] as const, ['b', 2, 1] as const], 'b a'],
    ['then requests', [['a', 5, 1] as const, ['b', 5, 2] as const], 'b a'],
    ['then the name', [['b', 5, 1] as const, ['a', 5, 1] as const], 'a b'],
    ['the name as its characters are', [['b', 5, 1] as const, ['C', 5, 1] as const], 'C b'],
    ['then the id', [['a', 5, 1] as const, ['a', 5, 1] as const], 'a a'],
    ['unpriced users last', [['a', 0, 7] as const, ['b', 1, 1] as const], 'b a'],
  ])('ranks by %s', async (_, list, names) => {
    await users(...list.map(([...user]) => user as [string, number, number]))
    const { leaders } = await bench.get<Leaderboard>(LEADERBOARD)
    expect(leaders.map(({ user_name }) => user_name).join(' ')).toBe(names)
    expect(leaders.map(({ rank }) => rank)).toEqual(list.map((_, n) => n + 1))
  })

  test('has the first 30 in the table and the first 5 in the chart, ties included', async () => {
    // 28 different ones, then six equal ones, of which two are included, by name.
    await users(
      ...Array.from({ length: 28 }, (_, n): [string, number, number] => [`u${n}`, 1000 - n, 1]),
      ...['f', 'e', 'd', 'c', 'b', 'a'].map((name): [string, number, number] => [name, 3, 1]),
    )
    const { leaders, chart_users } = await bench.get<Leaderboard>(LEADERBOARD)
    expect(leaders).toHaveLength(30)
    expect(leaders.slice(-2).map(({ user_name }) => user_name)).toEqual(['a', 'b'])
    expect(chart_users.map(({ user_name }) => user_name)).toEqual(['u0', 'u1', 'u2', 'u3', 'u4'])
  })

  test('covers users in the window, with the id if the name is unknown', async () => {
    await bench.spend({ owner: idOf(1), kind: 'service_account', picoUsd: 9 })
    await bench.spend({ owner: 'stranger', picoUsd: 1, at: '2026-11-14T12:00:00Z' })
    await bench.spend({ owner: 'stranger', picoUsd: 5, at: '2026-11-14T00:00:00Z' })
    await bench.spend({ owner: 'tomorrow', picoUsd: 7, at: '2026-11-21T12:00:00Z' })
    const week = await bench.get<Leaderboard>(LEADERBOARD)
    expect(week.leaders).toMatchObject([
      { user_name: 'stranger', total_spend_usd: '0.000000000001' },
    ])
    expect([week.window_start, week.window_end]).toEqual([
      '2026-11-14T12:00:00.000Z',
      '2026-11-21T12:00:00.000Z',
    ])
    const month = await bench.get<Leaderboard>(LEADERBOARD, { range: '31d' })
    expect(month.leaders).toMatchObject([{ total_spend_usd: '0.000000000006', total_requests: 2 }])
    expect(month.window_start).toBe('2026-10-21T12:00:00.000Z')
  })

  test('has every half day of the users in the chart, with their spend or 0', async () => {
    await users(['a', 1_500_000_000_000, 1], ['b', 1, 1])
    await bench.spend({ owner: idOf(1), picoUsd: 2, at: '2026-11-20T00:00:00Z' })
    await bench.spend({ owner: idOf(1), picoUsd: 3, at: '2026-11-20T00:00:00Z', model: 'n' })
    const { series } = await bench.get<Leaderboard>(LEADERBOARD)
    expect(series).toHaveLength(14)
    expect(series[0]?.bucket_start).toBe('2026-11-14T12:00:00.000Z')
    const filled = series.filter(({ values }) => values.some(({ spend_usd }) => spend_usd !== '0'))
    expect(filled).toEqual([
      {
        bucket_start: '2026-11-20T00:00:00.000Z',
        values: [
          { user_id: idOf(0), spend_usd: '0' },
          { user_id: idOf(1), spend_usd: '0.000000000005' },
        ],
      },
      {
        bucket_start: '2026-11-21T00:00:00.000Z',
        values: [
          { user_id: idOf(0), spend_usd: '1.5' },
          { user_id: idOf(1), spend_usd: '0.000000000001' },
        ],
      },
    ])
    for (const { values } of series) expect(values).toHaveLength(2)
    const month = await bench.get<Leaderboard>(LEADERBOARD, { range: '31d' })
    expect(month.series).toHaveLength(62)
  })

  const dominance: readonly [
    by: string,
    used: readonly [string, number, number][],
    model: string,
  ][] = [
    [
      'requests',
      [
        ['a', 3, 1],
        ['b', 2, 9],
      ],
      'a',
    ],
    [
      'requests over all half days',
      [
        ['a', 3, 9],
        ['b', 2, 1],
        ['b', 2, 1],
      ],
      'b',
    ],
    [
      'then spend',
      [
        ['a', 3, 1],
        ['b', 3, 9],
      ],
      'b',
    ],
    [
      'then the key',
      [
        ['b', 3, 9],
        ['a', 3, 9],
      ],
      'a',
    ],
  ]
  test.each(dominance)(
    'has the model with the most %s as the most used one',
    async (_, used, model) => {
      for (const [n, [name, requests, picoUsd]] of used.entries()) {
        const at = `2026-11-${20 - n}T00:00:00Z`
        await bench.spend({ owner: 'u', model: name, requests, picoUsd, at })
      }
      const { leaders } = await bench.get<Leaderboard>(LEADERBOARD)
      expect(leaders[0]?.most_used_model).toBe(model)
    },
  )

  test('averages tools over the requests that recorded them, else has no average', async () => {
    await bench.spend({ owner: 'user-1' })
    await bench.spend({ owner: 'untouched' })
    const at = new Date('2026-11-21T09:00:00Z')
    await bench.log(
      [at, { exposedToolCount: 3, invokedToolCount: 0 }],
      [at, { exposedToolCount: 0, invokedToolCount: 0, userAgent: 'aider/1' }],
      [at, { exposedToolCount: undefined, invokedToolCount: undefined }],
      // It costs nothing, and does not call a model.
      [at, { exposedToolCount: 50, invokedToolCount: 50, priced: false }],
      // Outside the window.
      [new Date('2026-11-14T11:59:59Z'), { exposedToolCount: 100 }],
    )
    const { leaders } = await bench.get<Leaderboard>(LEADERBOARD)
    const averages = Object.fromEntries(
      leaders.map((leader) => [leader.user_name, leader.tool_cardinality_averages]),
    )
    expect(averages).toEqual({
      'user-1': {
        exposed_tool_count: 1.5,
        invoked_tool_count: 0,
        referenced_mcp_server_count: null,
        filtered_tool_count: null,
      },
      untouched: {
        exposed_tool_count: null,
        invoked_tool_count: null,
        referenced_mcp_server_count: null,
        filtered_tool_count: null,
      },
    })
  })

  test('without requests is empty, with every half day', async () => {
    const empty = await bench.get<Leaderboard>(LEADERBOARD)
    expect(empty).toMatchObject({ chart_users: [], leaders: [] })
    expect(empty.series).toHaveLength(14)
  })
})

describe('harness usage', () => {
  test('ranks by requests, then the key, over all owners, and charts the first five', async () => {
    const at = new Date('2026-11-21T09:00:00Z')
    const agents = ['codex/1', 'claude-cli/1', 'cursor/1', 'aider/1', 'pi/1', 'opencode/1', 'else']
    await bench.log(
      ...agents.map((userAgent) => [at, { userAgent }] as const),
      [at, { userAgent: 'codex/9', principal: serviceAccount() }],
      [at, { userAgent: 'codex/9', priced: false }],
      // A row without an owner, of an earlier version, does not count.
      [at, { userAgent: 'codex/9', principal: undefined }],
      [new Date('2026-11-19T23:59:59Z'), { userAgent: 'codex/2' }],
      [new Date('2026-11-14T11:59:59Z'), { userAgent: 'pi/1' }],
    )
    const usage = await bench.get<HarnessUsage>(HARNESSES)
    const { leaders, series } = usage
    expect(leaders.map((l) => `${l.rank} ${l.agent_harness_key} ${l.request_count}`)).toEqual([
      '1 codex 3',
      '2 aider 1',
      '3 claude_code 1',
      '4 cursor 1',
      '5 opencode 1',
      '6 pi 1',
      '7 unknown 1',
    ])
    expect(leaders[0]).toMatchObject({ agent_harness_label: 'Codex' })
    expect(usage.chart_harnesses.map(({ agent_harness_key }) => agent_harness_key)).toEqual([
      'codex',
      'aider',
      'claude_code',
      'cursor',
      'opencode',
    ])
    expect(series).toHaveLength(14)
    expect(series.map(({ values }) => values.map((v) => v.request_count).join(''))).toEqual([
      ...Array.from({ length: 10 }, () => '00000'),
      '10000',
      '00000',
      '00000',
      '21111',
    ])
  })
})
