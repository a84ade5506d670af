import { describe, expect, test } from 'bun:test'
import type { ManagedCheckSpec } from 'model-gateway/guardrail'
import { load } from '../_shared/testing.ts'
import plugin from './index.ts'

const spec = plugin.manifest.declares?.[0]?.spec as ManagedCheckSpec
const good = { region: 'us-east-1', guardrail_identifier: 'gr1abc23def4', guardrail_version: '1' }
const keys = { access_key_id: 'literal.AK', secret_access_key: 'literal.SK' }

test('the kind and its alias', () => {
  expect([spec?.kind, spec?.aliases]).toEqual(['cloud_b_guardrail', ['bedrock_guardrail']])
  expect(spec?.phases).not.toContain('harness_pre_tool')
})

describe('is right', () => {
  test.each<[string, object]>([
    ['the least', {}],
    ['a number', { guardrail_version: 99_999_999 }],
    ['the draft', { guardrail_version: 'DRAFT' }],
    ['an ARN', { guardrail_identifier: 'arn:aws:bedrock:us-east-1:123456789012:guardrail/abc1' }],
    [
      'an ARN of another partition',
      {
        region: 'us-gov-west-1',
        guardrail_identifier: 'arn:aws-us-gov:bedrock:us-gov-west-1:123456789012:guardrail/abc1',
      },
    ],
    ['the chain', { auth: { kind: 'default_chain' } }],
    ['keys', { auth: { kind: 'static', ...keys, session_token: 'literal.ST' } }],
    ['retries', { max_retries: 0 }],
    ['another endpoint', { endpoint_url: 'http://127.0.0.1:8080/' }],
  ])('%s', (_, part) => {
    expect(load(spec, { ...good, ...part }).problems).toEqual([])
  })

  test('two retries are the default', () => {
    expect(load(spec, good).config.max_retries).toBe(2)
  })
})

describe('stops the start', () => {
  test.each<[string, object, (string | number)[]]>([
    ['no region', { region: undefined }, ['region']],
    ['no region but words', { region: 'US East' }, ['region']],
    ['an identifier in capitals', { guardrail_identifier: 'GR1' }, ['guardrail_identifier']],
    ['an identifier with a path', { guardrail_identifier: 'a/../b' }, ['guardrail_identifier']],
    [
      'an ARN of something else',
      { guardrail_identifier: 'arn:aws:bedrock:us-east-1:123456789012:model/abc' },
      ['guardrail_identifier'],
    ],
    ['version 0', { guardrail_version: '0' }, ['guardrail_version']],
    ['version 0 as a number', { guardrail_version: 0 }, ['guardrail_version']],
    ['nine digits', { guardrail_version: '123456789' }, ['guardrail_version']],
    ['half a version', { guardrail_version: 1.5 }, ['guardrail_version']],
    ['a version with a line', { guardrail_version: '1\n' }, ['guardrail_version']],
    ['a small draft', { guardrail_version: 'draft' }, ['guardrail_version']],
    ['another kind of auth', { auth: { kind: 'bearer_token' } }, ['auth', 'kind']],
    [
      'half of the keys',
      { auth: { kind: 'static', access_key_id: 'literal.AK' } },
      ['auth', 'secret_access_key'],
    ],
    [
      'bare keys',
      { auth: { kind: 'static', ...keys, access_key_id: 'AK' } },
      ['auth', 'access_key_id'],
    ],
    ['eleven retries', { max_retries: 11 }, ['max_retries']],
    ['no URL', { endpoint_url: 'vpce' }, ['endpoint_url']],
    ['a URL with a path', { endpoint_url: 'https://h/x' }, ['endpoint_url']],
    ['a URL with a password', { endpoint_url: 'https://a:b@h' }, ['endpoint_url']],
    ['an unknown key', { version: 1 }, ['version']],
  ])('%s', (_, part, path) => {
    const written = Object.fromEntries(
      Object.entries({ ...good, ...part }).filter(([, value]) => value !== undefined),
    )
    const { problems } = load(spec, written)
    expect(problems.map((problem) => problem.path)).toEqual([path])
    expect(problems[0]?.severity).toBeUndefined()
  })
})

test('an ARN of another region is a warning', () => {
  const { problems } = load(spec, {
    ...good,
    guardrail_identifier: 'arn:aws:bedrock:eu-west-1:123456789012:guardrail/abc1',
  })
  expect(problems).toMatchObject([{ path: ['guardrail_identifier'], severity: 'warning' }])
})
