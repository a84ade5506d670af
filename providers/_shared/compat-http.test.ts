import { expect, test } from 'bun:test'
import { joinUrl, mergeHeaders } from './compat-http.ts'

test('the path is appended to the base URL, with any trailing slashes', () => {
  for (const base of ['https://h/v1', 'https://h/v1/', 'https://h/v1//']) {
    expect(joinUrl(base, 'chat/completions')).toBe('https://h/v1/chat/completions')
  }
})

test('a path may leave the base URL', () => {
  const base = 'https://api.cohere.ai/compatibility/v1'
  expect(joinUrl(base, '../../v2/rerank')).toBe('https://api.cohere.ai/v2/rerank')
})

test('later header layers win, in any case', () => {
  expect(mergeHeaders({ 'X-Team': 'a', 'X-Only': 'b' }, { 'x-team': 'c' })).toEqual({
    'x-team': 'c',
    'x-only': 'b',
  })
})
