import { expect, test } from 'bun:test'
import { metrics, trace } from '@opentelemetry/api'
import { mcpAuthMode } from 'model-gateway/mcp'
import { strictObject } from 'model-gateway/plugin'
import { pino } from 'pino'
import { createOutbound } from '../../kernel/egress/outbound.ts'
import { startModernServer } from '../../test/harness/mcp-servers.ts'
import type { Outcome } from './discovery/outcome.ts'
import type { DiscoveryStore } from './discovery-store.ts'
import { createRefresher, type RefreshParts } from './refresh.ts'
import { none } from './testing.ts'

test('an auth mode that hangs, and does not hear that it is to end, holds up no discovery', async () => {
  const ended = new AbortController()
  const written: Outcome[] = []
  const released: string[] = []
  const hangs = mcpAuthMode({
    mode: 'hangs',
    kind: 'gateway',
    configSchema: strictObject({}),
    validate: () => [],
    headers: () => new Promise(() => {}),
  })
  const server = { id: 'a', server_key: 'a', status: 'active', auth_mode: 'hangs', auth_config: {} }
  const parts = {
    servers: { find: async () => server },
    store: {
      lease: async () => 'lease',
      commit: async (_: unknown, __: unknown, ___: unknown, outcome: Outcome) => {
        written.push(outcome)
        return outcome
      },
      release: async (id: string) => void released.push(id),
    },
    modes: () => [hangs],
    committed: async () => {},
    clock: { now: () => new Date(0) },
    meter: metrics.getMeter('test'),
    tracer: trace.getTracer('test'),
    log: pino({ level: 'silent' }),
    signal: ended.signal,
  } as unknown as RefreshParts
  setTimeout(() => ended.abort(), 20)
  expect(await createRefresher(parts).refresh('a')).toMatchObject({ status: 'failed' })
  expect([written.length, released]).toEqual([1, ['a']])
}, 2_000)

test.each([
  [
    'was rejected is recorded as a failure',
    { severity: 'ERROR', code: '54000' },
    'failed',
    ['success', 'failed'],
  ],
  [
    'may have been stored is not a failure',
    { code: 'CONNECTION_CLOSED' },
    'CONNECTION_CLOSED',
    ['success'],
  ],
])('what was found and %s', async (_, fault, becomes, written) => {
  const upstream = startModernServer()
  const outcomes: string[] = []
  const commit: DiscoveryStore['commit'] = async (_, __, ___, outcome) => {
    outcomes.push(outcome.status)
    if (outcome.status === 'success') throw Object.assign(new Error('no'), fault)
    return outcome
  }
  const server = {
    id: 'a',
    server_key: 'a',
    server_url: upstream.url,
    status: 'active',
    auth_mode: 'none',
    auth_config: {},
    timeout_ms: 1000,
  }
  const parts = {
    servers: { find: async () => server },
    store: { lease: async () => 'lease', commit, release: async () => {} },
    modes: () => [none],
    policy: () => ({ allowPrivate: true, allowedCidrs: [] }),
    outbound: createOutbound(),
    committed: async () => {},
    clock: { now: () => new Date(0) },
    meter: metrics.getMeter('test'),
    tracer: trace.getTracer('test'),
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  } as unknown as RefreshParts
  const result = await createRefresher(parts)
    .refresh('a')
    .then(
      (outcome) => outcome.status,
      (error) => error.code,
    )
  await upstream.stop()
  expect([result, outcomes]).toEqual([becomes, written])
})
