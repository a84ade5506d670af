import { expect, test } from 'bun:test'
import { GatewayError, Secret } from 'model-gateway/plugin'
import {
  bytes,
  errorStatus,
  html,
  json,
  providerCall,
  redirect,
  resetBeforeHeaders,
  setUpProvider,
  startUpstream,
  testPlugin,
  testProvider,
  testSurface,
} from 'model-gateway/testing'
import { rerank } from './src/dialect.ts'
import plugin from './src/index.ts'
import { promptTexts, readRerank } from './src/request.ts'

const body = { model: 'asked', query: 'rivers', documents: ['of rivers', { text: 'of hills' }] }
const answer = {
  id: 'r1',
  results: [{ index: 0, relevance_score: 0.9 }],
  meta: { billed_units: { search_units: 1 } },
}

const setUp = {
  plugin,
  type: 'rerank',
  config: (upstreamUrl: string) => ({
    base_url: upstreamUrl,
    api_key: new Secret('canary-4711'),
  }),
  secrets: ['canary-4711'],
}

testPlugin({ plugin })

testSurface({
  plugin,
  surfaces: {
    vendor_rerank: {
      takes: [{ ...body, top_n: 1, return_documents: true }],
      refuses: [
        { body: { model: 'asked', documents: ['a'] }, field: 'query' },
        { body: { ...body, documents: [] }, field: 'documents' },
        { body: { ...body, stream: true }, field: 'stream' },
      ],
    },
  },
  dialects: { vendor_rerank: { replies: [answer] } },
})

testProvider({
  ...setUp,
  dialects: { vendor_rerank: { request: body, payload: 'results', usage: 'meta' } },
  upstream: {
    reply: () => json(answer),
    malformed: [
      html,
      redirect,
      resetBeforeHeaders,
      errorStatus(429, 'slow down'),
      bytes('[1, 2', 'application/json'),
      bytes('null', 'application/json'),
    ],
  },
})

test('reads the model, and names the invalid field', () => {
  expect(readRerank(body)).toEqual({
    model: 'asked',
    stream: false,
    features: [],
    exposedToolCount: undefined,
  })
  const refused = (change: object) => {
    try {
      readRerank({ ...body, ...change })
    } catch (error) {
      return error instanceof GatewayError ? error.message : 'another error'
    }
    return 'accepted'
  }
  expect(refused({ top_n: 3, unknown: true })).toBe('accepted')
  expect(refused({ model: '' })).toStartWith('model must')
  expect(refused({ query: 7 })).toStartWith('query must')
  expect(refused({ documents: [] })).toStartWith('documents must')
  expect(refused({ documents: ['a', { words: 'b' }] })).toStartWith('documents.1 must')
  expect(refused({ stream: true })).toStartWith('stream is not')
})

test('a guard sees and can change the query and each document', () => {
  const { segments, replace } = promptTexts(body)
  expect(segments).toEqual(['rivers', 'of rivers', 'of hills'])
  expect(replace(['a', 'b', 'c'])).toEqual({
    ...body,
    query: 'a',
    documents: ['b', { text: 'c' }],
  })
})

test('counts search units, also of malformed replies, which fail', () => {
  expect(rerank.readReply(answer).usage).toMatchObject({ uncachedInput: 1, output: 0 })
  expect(rerank.readReply({ results: [] }).usage).toBeUndefined()
  const read = () => rerank.readReply({ meta: { billed_units: { search_units: 4 } } })
  expect(read).toThrow('it has no results')
  try {
    read()
  } catch (error) {
    expect((error as GatewayError).usage).toMatchObject({ uncachedInput: 4 })
  }
})

test('sends the body unchanged except for the upstream model name', async () => {
  const upstream = await startUpstream()
  const bench = await setUpProvider({ ...setUp, config: setUp.config(upstream.url) })
  try {
    upstream.always(json(answer))
    const more = { ...body, top_n: 1 }
    const result = await bench
      .bind({ upstreamModel: 'rank-3' })
      .execute.vendor_rerank?.(providerCall(more))
    expect(result).toMatchObject({ kind: 'buffered', body: answer })
    const sent = upstream.journal.calls.at(-1)
    expect(sent?.path).toBe('/v1/rerank')
    expect(sent?.body).toEqual({ ...more, model: 'rank-3' })
  } finally {
    await bench.dispose()
    await upstream.stop()
  }
})
