import type { Data } from '@/api/query.ts'
import { duration } from '@/lib/format.ts'
import type { Tone } from '@/ui/badge.tsx'

export type Policies = Data<'/api/v1/admin/guardrails/policies'>
export type Decision = Data<'/api/v1/admin/guardrails/decisions'>['items'][number]

export const actions = ['deny', 'audit', 'transformed', 'allow'] as const
export const actionNames: Readonly<Record<Decision['action'], readonly [string, Tone]>> = {
  deny: ['denied', 'bad'],
  audit: ['audited', 'warn'],
  transformed: ['transformed', 'accent'],
  allow: ['allowed', 'good'],
}

export const phases = [
  'prompt',
  'model_response',
  'generated_tool_call',
  'mcp_call',
  'mcp_result',
  'harness_pre_tool',
] as const
export type Phase = (typeof phases)[number]
export const phaseNames: Readonly<Record<Phase, string>> = {
  prompt: 'prompt',
  model_response: 'model response',
  generated_tool_call: 'model tool call',
  mcp_call: 'MCP call',
  mcp_result: 'MCP result',
  harness_pre_tool: 'coding agent tool',
}

/** The duration of an evaluation; most take less than a millisecond. */
export function took(ms: number): string {
  return ms < 1 ? '< 1 ms' : duration(ms)
}

/** Whether the phase is a call to an MCP server or its result. */
export function isMcp(phase: Phase): boolean {
  return phase === 'mcp_call' || phase === 'mcp_result'
}

/**
 * The display name of a scope: `Default`, `Model route fast: openai / gpt-5`, `MCP server tickets`.
 */
export function scopeName(scope: string): string {
  if (scope === 'global') return 'Default'
  const [kind, rest] = split(scope, ':')
  if (kind === 'mcp_server') return `MCP server ${rest}`
  if (kind !== 'model_route') return scope
  const [model, route] = split(rest, '/')
  const [provider, upstream] = split(route, '/')
  return `Model route ${model}: ${provider} / ${upstream}`
}

function split(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
