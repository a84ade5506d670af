import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { checkProvider, checkRoute } from './config.ts'
import { type ApiStyle, apiStyles, genericStyles } from './styles.ts'

const base = (style: ApiStyle) => (genericStyles.has(style) ? { base_path: '/v1' } : {})
const route = (
  style: ApiStyle,
  capabilities: JsonObject = {},
  profile: JsonObject = base(style),
) => ({
  capabilities,
  compatibility: { cloud_b_ml: { api_style: style, ...profile } },
})
const paths = (given: JsonObject) =>
  [...checkRoute(given)]
    .filter(({ severity }) => severity !== 'warning')
    .map(({ path }) => path.join('.'))

const onlyResponses = apiStyles.filter((style) => style !== 'edge_generic_responses')

describe('a route', () => {
  test.each(onlyResponses.map((style) => [style]))('of style %s needs no capabilities', (style) => {
    expect(paths(route(style))).toEqual([])
    const off = { responses: false, json_schema: false, embeddings: false }
    expect(paths(route(style, off))).toEqual([])
  })

  test.each(onlyResponses.map((style) => [style]))(
    'of style %s cannot have responses, json_schema or embeddings',
    (style) => {
      const on = { responses: true, json_schema: true, embeddings: true }
      expect(paths(route(style, on))).toEqual([
        'capabilities.embeddings',
        'capabilities.responses',
        'capabilities.json_schema',
      ])
    },
  )

  test('of style edge_generic_responses must turn chat completions off', () => {
    const style = 'edge_generic_responses'
    expect(paths(route(style))).toEqual(['capabilities.chat_completions'])
    expect(paths(route(style, { chat_completions: true }))).toEqual([
      'capabilities.chat_completions',
    ])
    const right = { chat_completions: false, responses: true, json_schema: true }
    expect(paths(route(style, right))).toEqual([])
    expect(paths(route(style, { ...right, embeddings: true }))).toEqual(['capabilities.embeddings'])
  })

  test('of style runtime_native_invoke cannot stream', () => {
    expect(paths(route('runtime_native_invoke', { stream: true }))).toEqual(['capabilities.stream'])
    expect(paths(route('runtime_native_invoke', { stream: false }))).toEqual([])
    expect(paths(route('edge_native_messages', { stream: true }))).toEqual([])
  })

  test.each(apiStyles.map((style) => [style]))('of style %s: its base_path', (style) => {
    const chat = style === 'edge_generic_responses' ? { chat_completions: false } : {}
    const path = 'compatibility.cloud_b_ml.base_path'
    const [missing, present] = genericStyles.has(style) ? [[path], []] : [[], [path]]
    expect(paths(route(style, chat, {}))).toEqual(missing)
    expect(paths(route(style, chat, { base_path: '/openai/v1' }))).toEqual(present)
  })

  const runtime = ['bedrock-runtime.us-east-1.amazonaws.com', 'vpce-1.bedrock-runtime.x.vpce.test']
  const edge = ['bedrock-mantle.us-east-1.api.aws', 'vpce-1.bedrock-mantle.x.vpce.test']
  test.each(apiStyles.map((style) => [style]))('of style %s: its endpoint', (style) => {
    const chat = style === 'edge_generic_responses' ? { chat_completions: false } : {}
    const refused = (hosts: readonly string[]) =>
      hosts.filter((host) =>
        [...checkRoute(route(style, chat), { endpoint_url: `https://${host}` })].some(
          ({ path }) => path.at(-1) === 'api_style',
        ),
      )
    const [right, wrong] = style.startsWith('edge_') ? [edge, runtime] : [runtime, edge]
    const fips = right === edge ? [] : ['bedrock-runtime-fips.us-gov-west-1.amazonaws.com']
    expect(refused([...right, ...fips, 'bedrock.example.com', '127.0.0.1:8080'])).toEqual([])
    expect(refused(wrong)).toEqual(wrong)
  })

  test('must say its style', () => {
    expect(paths({})).toEqual(['compatibility.cloud_b_ml'])
    expect(paths({ compatibility: {} })).toEqual(['compatibility.cloud_b_ml'])
  })

  test('has a hint for every problem', () => {
    const all = apiStyles.flatMap((style) => [
      ...checkRoute(route(style, { responses: true, embeddings: true, stream: true }, {})),
    ])
    expect(all.length).toBeGreaterThan(10)
    for (const { hint } of all) expect(hint).toBeString()
  })

  test('with wrongly typed parts is left to the schemas', () => {
    expect(paths({ compatibility: { cloud_b_ml: undefined } })).toEqual([])
    expect(paths({ compatibility: { cloud_b_ml: { api_style: 'nonsense' } } })).toEqual([])
    expect(paths({ ...route('edge_generic_chat', {}, { base_path: undefined }) })).toEqual([])
  })

  test('of a generic chat style is warned of streams without usage', () => {
    const warned = (given: JsonObject) =>
      [...checkRoute(given)].some(({ severity }) => severity === 'warning')
    for (const style of ['runtime_generic_chat', 'edge_generic_chat'] as const) {
      expect(warned(route(style))).toBe(true)
      expect(warned(route(style, { stream: false }))).toBe(false)
      expect(warned({ ...route(style), enabled: false })).toBe(false)
      const extra_body = { stream_options: { include_usage: true } }
      expect(warned({ ...route(style), extra_body })).toBe(false)
    }
    expect(warned(route('runtime_unified'))).toBe(false)
  })
})

test.each([
  ['https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com', []],
  ['http://127.0.0.1:8080/', []],
  [undefined, []],
  ['https://host/path', ['endpoint_url']],
  ['https://host?x=1', ['endpoint_url']],
  ['https://user:pass@host', ['endpoint_url']],
  ['https://host:port', ['endpoint_url']],
])('endpoint_url %p', (endpoint_url, problems) => {
  expect([...checkProvider({ endpoint_url })].map(({ path }) => path.join('.'))).toEqual(problems)
})
