import { describe, expect, test } from 'bun:test'
import type { ManagedCheckSpec } from 'model-gateway/guardrail'
import { load } from '../_shared/testing.ts'
import plugin from './index.ts'

const spec = plugin.manifest.declares?.[0]?.spec as ManagedCheckSpec
const good = {
  project: 'demo',
  location: 'us-central1',
  prompt_template: 'projects/demo/locations/us-central1/templates/prompts_1',
  response_template: 'projects/demo/locations/us-central1/templates/Responses-1',
  auth: { kind: 'bearer_token', token: 'literal.x' },
}

test('the kind and its alias', () => {
  expect([spec?.kind, spec?.aliases]).toEqual(['cloud_a_sanitizer', ['model_armor']])
  expect(spec?.phases).toEqual(['prompt', 'model_response', 'mcp_call', 'mcp_result'])
})

describe('is right', () => {
  test.each<[string, object]>([
    ['the least', {}],
    ['a project by number, templates by id', { project: '123456789012' }],
    [
      'a multi-region',
      {
        location: 'eu',
        prompt_template: 'projects/demo/locations/eu/templates/a',
        response_template: 'projects/demo/locations/eu/templates/b',
      },
    ],
    ['retries', { max_retries: 10 }],
    ['another endpoint', { endpoint_url: 'http://127.0.0.1:8080' }],
  ])('%s', (_, part) => {
    expect(load(spec, { ...good, ...part }).problems).toEqual([])
  })
})

describe('stops the start', () => {
  const prompt = (value: string) => ({ prompt_template: value })
  test.each<[string, object, string[]]>([
    ['no template', { response_template: undefined }, ['response_template']],
    ['a bare name', prompt('prompts'), ['prompt_template']],
    [
      'a slash too many',
      prompt('projects/demo/locations/us-central1/templates/a/b'),
      ['prompt_template'],
    ],
    ['a method', prompt('projects/demo/locations/us-central1/templates/a:x'), ['prompt_template']],
    ['a way up', prompt('projects/../locations/us-central1/templates/a'), ['prompt_template']],
    ['a query', prompt('projects/a?b/locations/us-central1/templates/a'), ['prompt_template']],
    ['another location', prompt('projects/demo/locations/eu/templates/a'), ['prompt_template']],
    [
      'another project',
      prompt('projects/other/locations/us-central1/templates/a'),
      ['prompt_template'],
    ],
    ['no project', { project: undefined }, ['project']],
    ['another kind of auth', { auth: { kind: 'adc', token: 'literal.x' } }, ['auth', 'kind']],
    ['no auth', { auth: undefined }, ['auth']],
    ['a bare token', { auth: { kind: 'bearer_token', token: 'x' } }, ['auth', 'token']],
    ['a URL with a query', { endpoint_url: 'https://h?x' }, ['endpoint_url']],
    ['minus one retries', { max_retries: -1 }, ['max_retries']],
    ['an unknown key', { template: 'x' }, ['template']],
  ])('%s', (_, part, path) => {
    const written = Object.fromEntries(
      Object.entries({ ...good, ...part }).filter(([, value]) => value !== undefined),
    )
    const { problems } = load(spec, written)
    expect(problems.map((problem) => problem.path)).toEqual([path])
  })

  test('a location that is nowhere, once for each template', () => {
    const { problems } = load(spec, { ...good, location: 'asia' })
    expect(problems.map(({ path }) => path)).toEqual([['prompt_template'], ['response_template']])
  })
})
