import { expect } from 'bun:test'
import { inTime, type Plugin } from 'model-gateway/plugin'
import type { BoundRoute, Execute } from 'model-gateway/provider'

/** Plugins differ in their configs and capabilities; a kit takes any. */
// biome-ignore lint/suspicious/noExplicitAny: each plugin has its own config and capabilities
export type AnyPlugin = Plugin<any, any>

/** Longest time of one test of a kit, its own database included. */
export const TEST_MS = 30_000

/** How long a kit waits for a call that has to end. */
const PATIENCE_MS = 2_000

/** What `work` comes to. Throws, in the words of `rule`, when it has not ended in time. */
export async function within<T>(
  rule: string,
  work: T | Promise<T>,
  ms: number = PATIENCE_MS,
): Promise<T> {
  const done = await inTime(Promise.resolve(work), ms)
  if (done === undefined) throw new Error(`${rule} (waited ${ms} ms)`)
  return done.value
}

/** What a route does with calls of a dialect. */
export function executor({ execute }: BoundRoute, dialect: string): Execute {
  const one = execute[dialect]
  if (one === undefined) throw new Error(`the route has no executor for ${dialect}`)
  return one.bind(execute)
}

/** Fails with a list of what is wrong, each in its own words. */
export function expectNothingIn(wrong: readonly string[]): void {
  expect(wrong.join('\n')).toBe('')
}

/** What a call throws, at once or later; `undefined` when it throws nothing. */
export async function thrownBy(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    return error ?? new Error('nothing was thrown, but it was thrown')
  }
}

/** All that an error says: its messages down the causes, its stack and its own fields. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const fields = JSON.stringify(error, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const cause = error.cause === undefined ? '' : textOf(error.cause)
  return `${error.name}: ${error.message}\n${error.stack}\n${fields}\n${cause}`
}

export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen)
    Object.freeze(value)
  }
  return value
}
