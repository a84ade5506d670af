import { expect, test } from 'bun:test'
import type { Conversion, Dialect, Execute, GuardPhase, GuardPolicy } from '../plugin/index.ts'
import { waysOf } from './ways.ts'

const execute: Execute = () => Promise.reject(new Error('unused'))
const dialect = (id: string, more: Partial<Dialect> = {}): Dialect => ({
  id,
  readReply: () => ({ usage: undefined, invokedToolCount: undefined }),
  ...more,
})
const answer = () => Promise.reject(new Error('unused'))
const dialects = [dialect('chat'), dialect('talk'), dialect('guess', { answer })]
const languages = {
  dialects: new Map(dialects.map((each) => [each.id, each])),
  conversions: [{ from: 'talk', to: 'chat' } as Conversion],
}
const guarding = (phase: GuardPhase) =>
  ({ covers: (asked) => asked === phase }) as Partial<GuardPolicy> as GuardPolicy

/** By the caller's dialect: the dialect of the route, and whether it has an executor. */
function waysTo(executed: readonly string[], guard?: GuardPolicy) {
  const bound = Object.fromEntries(executed.map((id) => [id, execute]))
  const ways = waysOf({ execute: bound, supports: [], pricing: {} as never }, languages, guard)
  return Object.fromEntries(
    [...ways].map(([from, way]) => [from, `${way.dialect.id}${way.execute ? '' : ' here'}`]),
  )
}

test('a route serves a dialect itself, by a conversion, or the dialect answers', () => {
  expect(waysTo(['chat'])).toEqual({ chat: 'chat', talk: 'chat', guess: 'guess here' })
  expect(waysTo(['talk', 'guess'])).toEqual({ talk: 'talk', guess: 'guess' })
  expect(waysTo([])).toEqual({ guess: 'guess here' })
})

test('a guarded prompt is answered by the dialect if it can answer itself', () => {
  const guarded = { chat: 'chat', talk: 'chat', guess: 'guess here' }
  expect(waysTo(['chat', 'guess'], guarding('prompt'))).toEqual(guarded)
  expect(waysTo(['guess'], guarding('model_response'))).toEqual({ guess: 'guess' })
})
