import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type {
  ConfigSnapshot,
  Database,
  Disposer,
  ExchangeRecord,
  ExchangeRecorder,
  ExtensionPoint,
  SnapshotListener,
} from 'model-gateway/plugin'
import pino from 'pino'
import { createTestDatabase, type TestDatabase } from '../../test/harness/database.ts'
import { noTelemetry } from '../../test/harness/telemetry.ts'
import { requestLogging } from './config.ts'
import plugin from './index.ts'
import { attempt, exchange, noon, serviceAccount, user } from './testing.ts'

let testDatabase: TestDatabase
let database: Database
beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.forPlugin(plugin.manifest.id, plugin.manifest.migrations ?? [])
})
afterAll(() => testDatabase.drop())

const DAY_MS = 86_400_000

/** The plugin set up over the database, its clock at noon. */
async function open() {
  const provided = new Map<string, unknown>()
  const scheduled: { ms: number; task: () => void | Promise<void> }[] = []
  let now = noon
  const dispose = await plugin.setup({
    config: {},
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...noTelemetry,
    provide: <T>(point: ExtensionPoint<T>, implementation: T) =>
      void provided.set(point.name, implementation),
    database,
    schedule: { every: (ms, task) => void scheduled.push({ ms, task }) },
    clock: { now: () => now },
  })
  const recorder = provided.get('exchange_recorders') as ExchangeRecorder
  const listener = provided.get('snapshot_listeners') as SnapshotListener
  const accept = async (version: string, capture_mode: string) => {
    const section = () => ({ payloads: { capture_mode } })
    const putIntoForce = await listener.prepare({ version, section } as never as ConfigSnapshot)
    putIntoForce()
  }
  await accept('v1', 'summary_only')
  return {
    accept,
    record: recorder.record,
    scheduled,
    setNow(time: Date) {
      now = time
    },
    dispose: dispose as Disposer,
  }
}

/** Records exchanges, closes the log and reads the rows of the first one. */
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
  }
}

describe('rows', () => {
  test('a success has a summary with all that is known, and its attempt', async () => {
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
        error_code: null,
        error_message: null,
      },
    ])
  })

  test('a rejected key has a summary without owner and without attempts', async () => {
    const refused = exchange({
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
    const { summaries, attempts } = await logged(refused)
    expect(summaries[0]).toMatchObject({
      owner_kind: null,
      user_id: null,
      api_key_id: null,
      model_key: null,
      status_code: 401,
      error_code: 'api_key_not_found',
      prompt_tokens: null,
      pricing_status: null,
    })
    expect(attempts).toEqual([])
  })

  test('a failure of the upstream keeps its words and its status', async () => {
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

  test('a user who opted out has no rows, neither has anybody when the log is disabled', async () => {
    const silent = exchange({ principal: user({ logging: false }) })
    expect(await logged(silent, exchange())).toEqual({ summaries: [], attempts: [] })

    const log = await open()
    await log.accept('v2', 'disabled')
    const [disabled, earlier] = [exchange({ configVersion: 'v2' }), exchange()]
    log.record(disabled)
    log.record(earlier)
    await log.dispose()
    const kept = await testDatabase.sql`
      select request_id from request_log.request_logs
      where request_id in (${disabled.requestId}, ${earlier.requestId})`
    expect([...kept]).toEqual([{ request_id: earlier.requestId }])
  })

  test('a counter that no column can hold costs its own row only', async () => {
    const usage = { ...exchange().usage, promptTokens: 1e30 } as ExchangeRecord['usage']
    const good = exchange()
    expect((await logged(good, exchange({ usage }), exchange())).summaries).toHaveLength(1)
  })

  test('many rows at once arrive once each', async () => {
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
  test('summaries are kept by default', () => {
    expect(Value.Default(requestLogging.schema, undefined)).toEqual({
      payloads: { capture_mode: 'summary_only' },
    })
  })

  test('what is not honoured is refused', () => {
    for (const payloads of [
      { capture_mode: 'redacted_payloads' },
      { capture_mode: 'summary_only', request_max_bytes: 1 },
    ]) {
      expect(Value.Check(requestLogging.schema, { payloads })).toBe(false)
    }
  })
})

describe('schedule', () => {
  test('every hour the days to come are made', async () => {
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
