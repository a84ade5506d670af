import { expect, test } from 'bun:test'
import { testSurface } from 'model-gateway/testing'
import { rerank } from './dialect.ts'
import plugin from './index.ts'

const body = { model: 'fast', query: 'rivers', documents: ['of rivers', { text: 'of hills' }] }
const results = [{ index: 0, relevance_score: 0.9 }]

// https://docs.cohere.com/reference/rerank, https://api.jina.ai/redoc, https://docs.voyageai.com/reference/reranker-api
const cohere = { id: 'r1', results, meta: { billed_units: { search_units: 1 } } }
const jina = { model: 'jina-reranker-m0', results, usage: { total_tokens: 15 } }
const voyage = { object: 'list', data: results, model: 'rerank-2.5', usage: { total_tokens: 26 } }

testSurface({
  plugin,
  surfaces: {
    rerank: {
      takes: [
        { ...body, top_n: 1, return_documents: true, max_tokens_per_doc: 9 },
        { ...body, query: { image: 'https://example.com/a.png' } },
      ],
      refuses: [
        { body: { model: 'fast', documents: ['a'] }, field: 'query' },
        { body: { ...body, documents: 'a' }, field: 'documents' },
        { body: { ...body, documents: [] }, field: 'documents' },
        { body: { ...body, documents: ['a', 7] }, field: 'documents.1' },
        { body: { ...body, stream: true }, field: 'stream' },
      ],
    },
  },
  dialects: { rerank: { replies: [cohere, jina, voyage], malformed: [{ results: {} }] } },
})

test.each([
  ['search units', cohere, { uncachedInput: undefined, uses: { search_unit: 1 } }],
  ['tokens', jina, { uncachedInput: 15, totalTokens: 15 }],
  ['tokens next to data', voyage, { uncachedInput: 26 }],
  [
    'both',
    { results, meta: { billed_units: { search_units: 2, input_tokens: 40 } } },
    { uncachedInput: 40, uses: { search_unit: 2 } },
  ],
] as const)('what is used is counted in %s', (_name, reply, usage) => {
  expect(rerank.readReply(reply).usage).toMatchObject(usage)
})

test('a guard sees the query and the documents, but no URL', () => {
  const picture = { image: 'https://example.com/a.png' }
  const texts = rerank.views?.promptTexts?.({ ...body, documents: [...body.documents, picture] })
  expect(texts?.segments).toEqual(['rivers', 'of rivers', 'of hills'])
  expect(texts?.replace(['a', 'b', 'c'])).toEqual({
    ...body,
    query: 'a',
    documents: ['b', { text: 'c' }, picture],
  })
})
