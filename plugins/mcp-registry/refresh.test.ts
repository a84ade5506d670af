import { expect, test } from 'bun:test'
import { metrics, trace } from '@opentelemetry/api'
import { mcpAuthMode, strictObject } from 'model-gateway/plugin'
import { pino } from 'pino'
import type { Outcome } from './discovery-store.ts'
import { createRefresher, type RefreshParts } from './refresh.ts'

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
