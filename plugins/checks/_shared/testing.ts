/**
 * Helpers for tests of managed checks: a service on a loopback port, and config as it is loaded.
 */

import {
  CheckFailure,
  type GuardPhase,
  type ManagedCheck,
  type ManagedCheckSpec,
} from 'model-gateway/guardrail'
import type { JsonObject, Problem, Secret } from 'model-gateway/plugin'
import { resolveSecret } from '../../../kernel/config/secrets.ts'
import { type Shaping, shape } from '../../../kernel/config/shape.ts'

export interface Received {
  readonly method: string
  /** As it came over the wire, escapes included. */
  readonly path: string
  readonly headers: Headers
  readonly text: string
  /** `text` as JSON. */
  readonly body: JsonObject
}

export interface StandIn {
  readonly url: string
  readonly calls: readonly Received[]
  /** Answers calls with valid credentials only. */
  answer: (call: Received) => Response | Promise<Response>
  stop(): Promise<void>
}

/** A service that validates requests; `refuse` returns the answer to invalid credentials. */
export function startStandIn(
  refuse: (call: Received) => Response | undefined | Promise<Response | undefined>,
): StandIn {
  const calls: Received[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 30,
    async fetch(request) {
      const text = await request.text()
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const call = { method, path: `${pathname}${search}`, headers, text, body: JSON.parse(text) }
      calls.push(call)
      return (await refuse(call)) ?? (await standIn.answer(call))
    },
  })
  const standIn: StandIn = {
    url: server.url.origin,
    calls,
    answer: () => new Response('no answer was set', { status: 500 }),
    stop: () => server.stop(true),
  }
  return standIn
}

/** The verdict of a check on a text, or its failure reason. */
export async function judge(
  check: ManagedCheck,
  text: string,
  { phase = 'prompt' as GuardPhase, timeoutMs = 5_000 } = {},
): Promise<unknown> {
  try {
    return await check.evaluate({ phase, text, signal: AbortSignal.timeout(timeoutMs) })
  } catch (error) {
    if (error instanceof CheckFailure) return error.reason
    throw error
  }
}

/** The Secret for a reference in the config. */
export function secret(reference: string): Secret {
  const result = resolveSecret(reference, process.env)
  if ('reveal' in result) return result
  throw new Error(result.message)
}

/** The settings of a kind as they are loaded, with their problems. */
export function load(spec: ManagedCheckSpec | undefined, written: unknown) {
  if (spec === undefined) throw new Error('the plugin declares no kind')
  const problems: Problem[] = []
  const use: Shaping = {
    env: process.env,
    report: (problem) => problems.push(problem),
    fill: true,
    origins: new WeakMap(),
  }
  const config = shape(spec.config, written, [], use) as Record<string, unknown>
  problems.push(...(spec.check?.(config) ?? []))
  return { config, problems }
}
