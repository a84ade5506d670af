import { expect, test } from 'bun:test'
import { joinUrl, mergeHeaders } from './compat-http.ts'

test('the path follows the base URL, whatever slashes it ends in', () => {
  for (const base of ['https://h/v1', 'https://h/v1/', 'https://h/v1//']) {
    expect(joinUrl(base, 'chat/completions')).toBe('https://h/v1/chat/completions')
  }
})

test('a path may lead out of the base URL', () => {
  const base = 'https://api.cohere.ai/compatibility/v1'
  expect(joinUrl(base, '../../v2/rerank')).toBe('https://api.cohere.ai/v2/rerank')
})

test('later header layers win, in whatever case they are written', () => {
  expect(mergeHeaders({ 'X-Team': 'a', 'X-Only': 'b' }, { 'x-team': 'c' })).toEqual({
    'x-team': 'c',
    'x-only': 'b',
  })
})
