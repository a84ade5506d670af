import { expect, test } from 'bun:test'
import type { McpCall } from './exchange.ts'
import type { Ending } from './stream.ts'
import { closeUnanswered } from './tap.ts'

/** The row of a call whose reply ended without a response. */
function fateOf(ending: Ending, sessionId: string | undefined, resumable: boolean): string {
  const fates: string[] = []
  const invocation = {
    leave: () => void fates.push('waits'),
    close: (status: string) => void fates.push(status),
  }
  closeUnanswered({ invocation, sessionId } as unknown as McpCall, ending, resumable)
  return fates.join()
}

test('an answer is waited for where it can still come on another stream, and nowhere else', () => {
  const endings = ['ended', 'left', 'idle', 'broken'] as const
  const inSession = (resumable: boolean) => endings.map((it) => fateOf(it, 's', resumable))
  expect(inSession(true)).toEqual(['waits', 'waits', 'waits', 'waits'])
  expect(inSession(false)).toEqual(['waits', 'cancelled', 'timeout', 'upstream_error'])
  expect(endings.map((it) => fateOf(it, undefined, true))).toEqual([
    'incomplete',
    'cancelled',
    'timeout',
    'upstream_error',
  ])
})
