import { expect, test } from 'bun:test'
import { withChangedArguments } from './headers.ts'

test('a header that repeats an argument has what a guard has made of it', () => {
  const headers = (from: Record<string, string>) =>
    withChangedArguments(
      { accept: 'a', ...from },
      { note: 'old', twin: 'old', kept: 'as it was', gone: 'gone' },
      { note: 'new', twin: 'old', kept: 'as it was' },
    )
  // If two arguments were equal, either of them may have changed, in any position.
  expect(headers({ 'mcp-param-note': 'old' })).toEqual({ accept: 'a', 'mcp-param-note': 'new' })
  const turned = withChangedArguments(
    { 'mcp-param-note': 'old' },
    { twin: 'old', note: 'old' },
    { twin: 'old', note: 'new' },
  )
  expect(turned).toEqual({ 'mcp-param-note': 'new' })
  const kept = { accept: 'a', 'mcp-param-kept': 'as it was' }
  expect(headers({ 'mcp-param-kept': 'as it was' })).toEqual(kept)
  expect(headers({ 'mcp-param-gone': 'gone', 'mcp-param-other': 'of none' })).toEqual({
    accept: 'a',
  })
})
