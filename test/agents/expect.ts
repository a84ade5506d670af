import { expect } from 'bun:test'
import type { AgentResult, LogRow, Stage } from './stage.ts'

/** The agent has read both files, told what is in them, and its calls are in the log as they were. */
export async function expectToolLoop(
  stage: Stage,
  { result, model, harness }: { result: AgentResult; model: string; harness: string },
): Promise<LogRow[]> {
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
  expect(turns.map(({ invoked_tool_count }) => invoked_tool_count)).toEqual([1, 1, 0])
  return turns
}
