import type { Phase } from '@/pages/guardrails/query.ts'

export const kinds = [
  { key: 'command', label: 'Command' },
  { key: 'tool', label: 'Tool call' },
  { key: 'sql', label: 'SQL' },
  { key: 'text', label: 'Text' },
] as const
export type Kind = (typeof kinds)[number]['key']

export const examples = {
  command: 'cd /srv && sudo rm -rf "$DIR" | tee log',
  sql: 'delete from users',
  text: 'A prompt, or the reply of a model',
}

const toolPhases = ['harness_pre_tool', 'generated_tool_call', 'mcp_call'] as const
/** The phases in which each kind can be evaluated; the first is the default. */
export const phasesOf: Readonly<Record<Kind, readonly Phase[]>> = {
  command: ['harness_pre_tool', 'generated_tool_call'],
  tool: toolPhases,
  sql: ['mcp_call', 'harness_pre_tool', 'generated_tool_call'],
  text: ['prompt', 'model_response', 'mcp_result'],
}

/** The input of the form, for each kind. */
export interface Draft {
  readonly command: string
  readonly sql: string
  readonly text: string
  readonly tool: string
  readonly arguments: string
  readonly server: string
  readonly database: string
  /** '': the default. */
  readonly phase: Phase | ''
}

export const emptyDraft: Draft = {
  command: '',
  sql: '',
  text: '',
  tool: '',
  arguments: '{}',
  server: '',
  database: 'postgres',
  phase: '',
}

/** The parsed arguments; undefined if they are not a JSON object. */
export function argumentsOf({ arguments: written }: Draft): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(written)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** The body of the API call. SQL is sent as a call of a tool that runs it. */
export function bodyOf(kind: Kind, draft: Draft, scope: string) {
  const { command, sql, text, tool, server, database } = draft
  const phase = draft.phase === '' ? phasesOf[kind][0] : draft.phase
  const common = { scope, ...(phase !== undefined && { phase }) }
  switch (kind) {
    case 'command':
      return { ...common, command }
    case 'text':
      return { ...common, text }
    case 'sql':
      return { ...common, tool_name: 'execute_sql', arguments: { sql }, server: database }
    case 'tool':
      return {
        ...common,
        tool_name: tool,
        arguments: argumentsOf(draft) ?? {},
        ...(server !== '' && { server }),
      }
  }
}
