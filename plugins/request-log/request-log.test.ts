import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import type { ConfigDraft, ConfigSnapshot, SnapshotListener } from 'model-gateway/host'
import type { ExchangeRecord, ExchangeRecorder } from 'model-gateway/observer'
import type { Command, Database, Disposer, ExtensionPoint, HealthCheck } from 'model-gateway/plugin'
import { streamEvent } from 'model-gateway/wire'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import { checkRequestLogging, defaultSettings, requestLogging } from './config.ts'
import plugin from './index.ts'
import { attempt, exchange, noon, serviceAccount, user } from './testing.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
})
const folder = mkdtempSync(join(tmpdir(), 'request-log-'))
afterAll(async () => {
  await testDatabase.drop()
  rmSync(folder, { recursive: true, force: true })
})

const DAY_MS = 86_400_000
const purge = { enabled: false, retention: '7d', schedule: '0 0 * * *' }

/** The plugin set up over the database, its clock at noon. */
async function open() {
  const provided = new Map<string, unknown>()
  const scheduled: { ms: number; task: () => void | Promise<void> }[] = []
  let now = noon
  const dispose = await plugin.setup({
    config: {},
    uses: { trail: () => undefined },
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: <T>(point: ExtensionPoint<T>, implementation: T) =>
      void provided.set(point.name, implementation),
    database,
    files: { directory: () => folder },
    schedule: { every: (ms, task) => void scheduled.push({ ms, task }) },
    clock: { now: () => now },
  })
  const recorder = provided.get('exchange_recorders') as ExchangeRecorder
  const listener = provided.get('snapshot_listeners') as SnapshotListener
  const health = provided.get('health_checks') as HealthCheck
  const accept = async (version: string, payloads: object, purging = purge) => {
    const section = () => ({
      payloads: { ...defaultSettings, ...payloads },
      purge: purging,
      harnesses: [{ key: 'house_bot', label: 'House bot', starts: ['HouseBot/'] }],
    })
    const putIntoForce = await listener.prepare({ version, section } as never as ConfigSnapshot)
    putIntoForce()
  }
  await accept('v1', { capture_mode: 'summary_only' })
  await accept('captures', { capture_mode: 'redacted_payloads', stream_max_events: 8 })
  return {
    accept,
    record: recorder.record,
    recorder,
    health,
    command: provided.get('commands') as Command,
    scheduled,
    setNow(time: Date) {
      now = time
    },
    dispose: dispose as Disposer,
  }
}

/** Records exchanges, closes the log, and reads the rows of the first one. */
async function logged(...exchanges: readonly ExchangeRecord[]) {
  const log = await open()
  exchanges.forEach(log.record)
  await log.dispose()
  const id = exchanges[0]?.requestId ?? ''
  return {
    summaries: [
      ...(await testDatabase.sql`select * from request_log.request_logs where request_id = ${id}`),
    ],
    attempts: [
      ...(await testDatabase.sql`
        select * from request_log.request_log_attempts where request_id = ${id}
        order by attempt_number`),
    ],
    payloads: [
      ...(await testDatabase.sql`
        select * from request_log.request_log_payloads where request_id = ${id}`),
    ],
    tags: [
      ...(await testDatabase.sql`
        select key, value, occurred_at, request_log_id from request_log.request_log_tags
        where request_id = ${id} order by key`),
    ],
  }
}

describe('rows', () => {
  test('a success has a complete summary, and its attempt', async () => {
    const done = exchange({ stream: true })
    const { summaries, attempts } = await logged(done)
    expect(summaries).toEqual([
      {
        id: expect.any(String),
        occurred_at: noon,
        request_id: done.requestId,
        owner_kind: 'user',
        user_id: 'user-1',
        team_id: 'team-1',
        service_account_id: null,
        api_key_id: 'key-1',
        model_key: 'fast',
        resolved_model_key: 'small-model',
        provider_key: 'main',
        upstream_model: 'vendor/small',
        operation: 'chat_completions',
        stream: true,
        status_code: 200,
        outcome: 'success',
        error_code: null,
        error_message: null,
        latency_ms: 14,
        prompt_tokens: 100n,
        completion_tokens: 20n,
        total_tokens: 120n,
        cache_read_tokens: 10n,
        cache_write_tokens: 0n,
        reasoning_tokens: 5n,
        pricing_status: 'priced',
        cost_pico_usd: 9_007_199_254_740_993n,
        service: null,
        component: null,
        env: null,
        user_agent: 'codex/1.0',
        agent_harness_key: 'codex',
        agent_harness_label: 'Codex',
        exposed_tool_count: 0,
        invoked_tool_count: 0,
        referenced_mcp_server_count: null,
        filtered_tool_count: null,
        has_payload: false,
        request_payload_truncated: false,
        response_payload_truncated: false,
        config_version: 'v1',
        metadata_json: {
          operation: 'chat_completions',
          stream: true,
          payload_policy: {
            capture_mode: 'summary_only',
            request_max_bytes: 65_536,
            response_max_bytes: 65_536,
            stream_max_events: 128,
            version: 'builtin:v1',
          },
        },
      },
    ])
    expect(attempts).toEqual([
      {
        request_log_id: summaries[0]?.id,
        occurred_at: noon,
        request_id: done.requestId,
        attempt_number: 1,
        provider_key: 'main',
        provider_type: 'generic_compat',
        route_id: 'fast/main/vendor/small',
        upstream_model: 'vendor/small',
        status: 'success',
        started_at: noon,
        latency_ms: 13,
        first_byte_ms: 3,
        upstream_status: 200,
        upstream_request_id: 'req_up',
        error_code: null,
        error_message: null,
      },
    ])
  })

  test('an agent in the config has its configured name', async () => {
    await logged(exchange({ configVersion: 'v1', userAgent: 'housebot/2.1', requestId: 'house' }))
    expect(
      await testDatabase.sql`select agent_harness_key, agent_harness_label
        from request_log.request_logs where request_id = 'house'`,
    ).toMatchObject([{ agent_harness_key: 'house_bot', agent_harness_label: 'House bot' }])
  })

  test('a call without a known owner has no rows', async () => {
    const counted = () =>
      testDatabase.sql`select (select count(*) from request_log.request_logs) as rows,
        (select sum(request_count) from request_log.harness_rollups) as harnesses,
        (select sum(request_count) from request_log.traffic_rollups) as traffic`
    const refused = exchange({
      configVersion: 'captures',
      principal: undefined,
      requestedModel: undefined,
      resolvedModel: undefined,
      provider: undefined,
      upstreamModel: undefined,
      statusCode: 401,
      outcome: 'invalid_request',
      errorCode: 'api_key_not_found',
      errorMessage: 'no such key',
      usage: undefined,
      settlement: undefined,
      attempts: [],
    })
    const [before] = await counted()
    const nothing = { summaries: [], attempts: [], payloads: [], tags: [] }
    expect(await logged(refused)).toEqual(nothing)
    const [after] = await counted()
    expect(after).toEqual(before)
  })

  test('an upstream failure keeps its message and status', async () => {
    const failed = exchange({
      outcome: 'upstream_error',
      statusCode: 502,
      attempts: [
        attempt({
          status: 'stream_error',
          upstreamStatus: undefined,
          firstByteMs: undefined,
          errorCode: 'upstream_transport',
          errorMessage: 'cut\0off \ud83d',
        }),
      ],
    })
    const { attempts } = await logged(failed)
    expect(attempts[0]).toMatchObject({
      status: 'stream_error',
      first_byte_ms: null,
      upstream_status: null,
      error_code: 'upstream_transport',
      error_message: 'cutoff \ufffd',
    })
  })

  test('a service account is logged with its team', async () => {
    const { summaries } = await logged(exchange({ principal: serviceAccount() }))
    expect(summaries[0]).toMatchObject({
      owner_kind: 'service_account',
      user_id: null,
      service_account_id: 'account-1',
      team_id: 'team-2',
    })
  })

  test('a user who opted out has no rows; with a disabled log, no caller has', async () => {
    const silent = exchange({ principal: user({ logging: false }) })
    const nothing = { summaries: [], attempts: [], payloads: [], tags: [] }
    expect(await logged(silent, exchange())).toEqual(nothing)

    const log = await open()
    await log.accept('v2', { capture_mode: 'disabled' })
    const [disabled, earlier] = [exchange({ configVersion: 'v2' }), exchange()]
    log.record(disabled)
    log.record(earlier)
    await log.dispose()
    const kept = await testDatabase.sql`
      select request_id from request_log.request_logs
      where request_id in (${disabled.requestId}, ${earlier.requestId})`
    expect([...kept]).toEqual([{ request_id: earlier.requestId }])
  })

  test('tags are columns of the summary, and separate rows', async () => {
    const tags = {
      service: 'shop',
      component: 'cart',
      env: undefined,
      custom: [{ key: 'run', value: '7' }],
    }
    const { summaries, tags: rows } = await logged(exchange({ tags }))
    expect(summaries[0]).toMatchObject({ service: 'shop', component: 'cart', env: null })
    const parent = { occurred_at: noon, request_log_id: summaries[0]?.id }
    expect(rows).toEqual([
      { key: 'component', value: 'cart', ...parent },
      { key: 'run', value: '7', ...parent },
      { key: 'service', value: 'shop', ...parent },
    ])
  })

  test('a captured exchange has a payload row', async () => {
    const done = exchange({
      configVersion: 'captures',
      requestHeaders: () => ({ authorization: 'Bearer CANARYsecret42', accept: '*/*' }),
      requestBody: { model: 'fast', messages: [{ content: 'a\0b' }] },
      response: {
        kind: 'stream',
        events: Array.from({ length: 8 }, (_, n) => streamEvent(`{"n":${n}}`)),
        eventCount: 500,
        error: undefined,
      },
      invokedToolCount: 3,
    })
    const { summaries, payloads } = await logged(done)
    expect(summaries[0]).toMatchObject({
      has_payload: true,
      request_payload_truncated: false,
      response_payload_truncated: true,
      total_tokens: 120n,
      invoked_tool_count: 3,
      metadata_json: {
        payload_policy: { capture_mode: 'redacted_payloads', stream_max_events: 8 },
      },
    })
    expect(payloads).toEqual([
      {
        request_log_id: summaries[0]?.id,
        occurred_at: noon,
        request_id: done.requestId,
        request_json: {
          headers: { authorization: '[redacted]', accept: '*/*' },
          body: { model: 'fast', messages: [{ content: 'ab' }] },
        },
        response_json: {
          stream: true,
          events: [0, 1, 2, 3, 4, 5, 6, 7].map((n) => ({ n })),
          usage: expect.objectContaining({ total_tokens: 120 }),
          error: null,
        },
      },
    ])
  })

  test('payloads of megabytes do not block other work', async () => {
    const log = await open()
    const numbers = () => Array.from({ length: 200_000 }, (_, n) => n / 7)
    const done = Array.from({ length: 8 }, () =>
      exchange({
        configVersion: 'captures',
        requestBody: { input: numbers().map(String) },
        response: { kind: 'buffered', body: { data: [{ embedding: numbers() }] } },
      }),
    )
    // CPU time of this process, so that other processes do not count.
    const worked = () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    }
    let longest = 0
    let last = worked()
    const ticking = setInterval(() => {
      const now = worked()
      longest = Math.max(longest, now - last)
      last = now
    }, 0)
    done.forEach(log.record)
    while ((log.health.check().details?.queued as number) > 0) await Bun.sleep(1)
    clearInterval(ticking)
    await log.dispose()
    // Allows for one garbage collection.
    expect(longest).toBeLessThan(80)
    const rows = await testDatabase.sql`
      select request_payload_truncated as request, response_payload_truncated as response
      from request_log.request_logs where request_id in ${testDatabase.sql(done.map((d) => d.requestId))}`
    expect([...rows]).toEqual(Array(8).fill({ request: true, response: true }))
  })

  test('a counter that exceeds its column loses only its row', async () => {
    const usage = { ...exchange().usage, promptTokens: 1e30 } as ExchangeRecord['usage']
    const good = exchange()
    expect((await logged(good, exchange({ usage }), exchange())).summaries).toHaveLength(1)
  })

  test('concurrent rows are written once each', async () => {
    const many = Array.from({ length: 1_234 }, () => exchange({ configVersion: 'many' }))
    await logged(...many)
    const [count] = await testDatabase.sql`
      select count(*)::int as rows, count(distinct l.request_id)::int as requests,
        count(a.request_log_id)::int as attempts
      from request_log.request_logs l
      left join request_log.request_log_attempts a
        on a.request_log_id = l.id and a.occurred_at = l.occurred_at
      where config_version = 'many'`
    expect(count).toEqual({ rows: 1_234, requests: 1_234, attempts: 1_234 })
  })
})

describe('config', () => {
  test('by default payloads are captured and nothing is purged', () => {
    expect(Value.Default(requestLogging.schema, undefined)).toEqual({
      payloads: { ...defaultSettings, capture_mode: 'redacted_payloads' },
      purge,
      harnesses: [],
    })
  })

  test('limits are positive integers', () => {
    for (const name of ['request_max_bytes', 'response_max_bytes', 'stream_max_events']) {
      for (const [value, good] of [
        [1, true],
        [0, false],
        [-1, false],
        [1.5, false],
      ] as const) {
        const payloads = { ...defaultSettings, [name]: value }
        expect(Value.Check(requestLogging.schema, { payloads, purge, harnesses: [] })).toBe(good)
      }
    }
  })

  test('each redaction path is checked', () => {
    const redaction_paths = ['body.a', 'messages.*', 'body..b']
    const section = () => ({ payloads: { redaction_paths } })
    const problems = [...checkRequestLogging({ section } as never as ConfigDraft)]
    expect(problems.map(({ path }) => path.join('.'))).toEqual([
      'request_logging.payloads.redaction_paths.1',
      'request_logging.payloads.redaction_paths.2',
    ])
    expect([...checkRequestLogging({ section: () => undefined } as never as ConfigDraft)]).toEqual(
      [],
    )
  })

  test('a harness that cannot match any User-Agent is a problem', () => {
    const names = { key: 'a', label: 'A' }
    const harnesses = [{ ...names, starts: ['a/'] }, names, { ...names, starts: [] }]
    const section = () => ({ harnesses })
    expect([...checkRequestLogging({ section } as never as ConfigDraft)]).toMatchObject([
      { path: ['request_logging', 'harnesses', 1], message: 'cannot match any User-Agent' },
      { path: ['request_logging', 'harnesses', 2] },
    ])
    for (const key of ['My agent', '', 'x'.repeat(65)]) {
      const all = { payloads: defaultSettings, purge, harnesses: [{ ...names, key }] }
      expect(Value.Check(requestLogging.schema, all)).toBe(false)
    }
  })

  test('the limit of stream events follows the active config', async () => {
    const log = await open()
    expect(log.recorder.streamEventLimit?.()).toBe(8)
    await log.accept('v2', { capture_mode: 'redacted_payloads', stream_max_events: 77 })
    expect(log.recorder.streamEventLimit?.()).toBe(77)
    await log.accept('v3', { capture_mode: 'summary_only' })
    expect(log.recorder.streamEventLimit?.()).toBe(0)
    await log.dispose()
  })

  test('old rows are deleted by the active config', async () => {
    const log = await open()
    const daily = { enabled: true, retention: '1d', schedule: '30 3 * * *' }
    await log.accept('v2', {}, daily)
    const lines: string[] = []
    await log.command.run(['--dry-run'], (line) => lines.push(line))
    expect(lines.join()).toContain('from before 2026-11-20T12:00:00.123Z')

    const [, tick] = log.scheduled
    await tick?.task()
    const morning = new Date('2026-11-22T03:30:00Z')
    log.setNow(morning)
    await tick?.task()
    const [done] = await testDatabase.sql`select scheduled_at from request_log.retention`
    expect(done?.scheduled_at).toEqual(morning)
    await log.dispose()
  })
})

describe('health', () => {
  test('reports waiting rows', async () => {
    const log = await open()
    log.record(exchange({ configVersion: 'captures' }))
    expect(log.health.check()).toEqual({
      status: 'ok',
      details: { queued: 1, shed: 0, spool_depth: 0 },
    })
    await log.dispose()
    expect(log.health.check().details).toMatchObject({ queued: 0 })
  })
})

describe('schedule', () => {
  test('partitions of coming days are created every hour', async () => {
    const log = await open()
    const [hourly] = log.scheduled
    expect(hourly?.ms).toBe(3_600_000)
    log.setNow(new Date(noon.getTime() + DAY_MS))
    await hourly?.task()
    const [ninth] = await testDatabase.sql`
      select to_regclass('request_log.request_logs_p20261129')::text as name`
    expect(ninth?.name).toBe('request_log.request_logs_p20261129')
    await log.dispose()
  })
})
