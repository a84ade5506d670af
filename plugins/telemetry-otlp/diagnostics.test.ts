import { afterEach, expect, test } from 'bun:test'
import { diag } from '@opentelemetry/api'
import { pino } from 'pino'
import { logDiagnostics } from './diagnostics.ts'

afterEach(() => diag.disable())

test('one line per minute has the error in plain text, and the number of suppressed ones', () => {
  const lines: Record<string, unknown>[] = []
  let now = 0
  logDiagnostics(pino({}, { write: (line) => lines.push(JSON.parse(line)) }), () => now)
  diag.error(JSON.stringify({ stack: 'Error: refused\n at x', message: 'refused' }))
  for (let i = 0; i < 1000; i++) diag.warn('again')
  diag.info('not logged')
  now = 60_000
  diag.warn('x'.repeat(10_000))
  expect(lines).toMatchObject([
    { component: 'telemetry', msg: 'telemetry was lost', reason: 'refused', unsaid: 0 },
    { reason: 'x'.repeat(300), unsaid: 1000 },
  ])
})

test('further details of the SDK are in the line, too', () => {
  const lines: Record<string, unknown>[] = []
  logDiagnostics(pino({}, { write: (line) => lines.push(JSON.parse(line)) }))
  diag.warn('Partial success:', '{"rejectedDataPoints":3}', new Error('late'), { not: 'text' })
  expect(lines).toMatchObject([{ reason: 'Partial success: {"rejectedDataPoints":3} late' }])
})

test('a line reports when export works again, once for all signals and failures', () => {
  const lines: Record<string, unknown>[] = []
  let now = 0
  const write = (line: string) => lines.push(JSON.parse(line))
  const { sent } = logDiagnostics(pino({}, { write }), () => now)
  sent('traces')
  diag.warn('traces: refused')
  diag.warn('metrics: refused')
  sent('traces')
  expect(lines).toHaveLength(1)
  sent('metrics')
  for (let i = 0; i < 10; i++) {
    diag.warn('traces: refused')
    sent('traces')
  }
  now = 60_000
  diag.warn('traces: refused')
  diag.warn('Partial success')
  sent('metrics')
  sent('traces')
  expect(lines).toMatchObject([
    { level: 40, msg: 'telemetry was lost', reason: 'traces: refused', unsaid: 0 },
    { level: 30, component: 'telemetry', msg: 'telemetry export works again', unsaid: 1 },
    { level: 40, msg: 'telemetry was lost', unsaid: 10 },
    { level: 30, msg: 'telemetry export works again', unsaid: 1 },
  ])
})
