import { expect, test } from 'bun:test'
import { parse, stringify } from 'yaml'
import { trialsOf } from './try-config.ts'

const simulator = { id: 'sim', type: 'simulator' }
const config = {
  providers: [
    simulator,
    { id: 'openai', type: 'openai', api_key: 'env.OPENAI_API_KEY' },
    { id: 'own', type: 'generic_compat', default_headers: { 'x-key': 'env.OWN_KEY' } },
    { id: 'own/b', type: 'generic_compat' },
    { id: 'bare', type: 'generic_compat' },
  ],
  models: [
    { id: 'openai/*', routes: [{ provider: 'openai', upstream_model: '*' }] },
    { id: 'fast', routes: [{ provider: 'own', upstream_model: 'b/c', weight: 2 }] },
    { id: 'other', routes: [{ provider: 'own/b', upstream_model: 'c' }] },
    { id: 'demo', routes: [{ provider: 'sim', upstream_model: 's' }] },
  ],
}
const trials = (targets: readonly string[], of: object = config) =>
  trialsOf(stringify(of), targets, 'builtin:watch')

test.each([
  [[], ['openai gpt-6-luna', 'own b/c', 'own/b c', 'bare undefined']],
  [['sim'], ['sim s']],
  [
    ['own', 'own/b', 'own/fast', 'openai/gpt-5-mini', 'bare/m'],
    ['own b/c', 'own/b c', 'own b/c', 'openai gpt-5-mini', 'bare m'],
  ],
])('the targets %j try providers with these models', (targets, tried) => {
  const { trials: found, text } = trials(targets)
  expect(found.map(({ provider, route }) => `${provider} ${route?.upstreamModel}`)).toEqual(tried)
  const { models } = parse(text)
  const ids = models.map(({ id }: { id: string }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  const routes = found.flatMap(({ route }) => route ?? [])
  expect(ids.slice(config.models.length)).toEqual(
    routes.map(({ name, open, upstreamModel }) => name(open ? '*' : upstreamModel)),
  )
})

test('the simulator is tried where there is nothing else', () => {
  const alone = { ...config, providers: [simulator] }
  expect(trials([], alone).trials.map(({ provider }) => provider)).toEqual(['sim'])
})

test('a trial names the variables of its provider, and its route has the settings of the config', () => {
  const { trials: found, text } = trials([])
  expect(found.map(({ variables }) => variables)).toEqual([['OPENAI_API_KEY'], ['OWN_KEY'], [], []])
  expect(parse(text).models[5].routes).toEqual([
    { provider: 'own', upstream_model: 'b/c', weight: 2 },
  ])
})

test.each([
  ['nobody/x', "no provider matches 'nobody/x'; the config has: sim, openai, own, own/b, bare"],
  ['bare', "no model of provider 'bare' is known; name one: gateway try bare/MODEL"],
])('%s is refused', (target, message) => {
  expect(() => trials(['openai', target])).toThrow(message)
})
