import { expect } from 'bun:test'
import type { AgentResult, Stage } from './stage.ts'

/** The agent has stopped, and told why and when it can go on, after this many calls at most. */
export async function expectBudgetShown(
  stage: Stage,
  { result, model, calls }: { result: AgentResult; model: string; calls: number },
): Promise<void> {
  expect(result.out + result.err).toMatch(
    /the daily budget of broke@example\.com, 0 USD, is used up/i,
  )
  expect(result.out + result.err).toMatch(/reset at \d{4}-\d\d-\d\dT00:00:00|try again at \w+ \d/)
  expect(result.code).toBe(1)
  const rows = await stage.log(model, 1, 429)
  expect(rows.length).toBeLessThanOrEqual(calls)
  expect(new Set(rows.map((row) => row.error_code))).toEqual(new Set(['budget_exceeded']))
}

/** The agent has read both files, told what is in them, and its calls are in the log as they were. */
export async function expectToolLoop(
  stage: Stage,
  { result, model, harness }: { result: AgentResult; model: string; harness: string },
): Promise<void> {
  expect(result).toMatchObject({ code: 0, out: expect.stringContaining(result.conclusion) })
  const rows = await stage.log(model, 3)
  for (const row of rows) {
    expect(row).toMatchObject({
      status_code: 200,
      outcome: 'success',
      error_code: null,
      agent_harness_key: harness,
    })
  }
  // Beside them there may be calls without tools, such as for a title.
  const turns = rows.filter(({ exposed_tool_count }) => exposed_tool_count !== 0)
  const calls = turns.map(({ invoked_tool_count }) => invoked_tool_count)
  expect(calls.length).toBeGreaterThan(2)
  expect(calls).toEqual([...calls.slice(1).fill(1), 0])
  expect(await stage.failures()).toEqual([])
}
