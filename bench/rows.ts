import { MODEL } from './gateways.ts'
import { callBody, eventsCallBody, MCP_PATH, pingBody } from './mcp.ts'
import type { Row } from './measure.ts'

const QUESTION =
  'We put a gateway between our agents and the models that they call. Say in a few sentences what ' +
  'it must never lose, what it may lose when the machine dies, and how one would find out.'

interface Shape {
  readonly model?: string
  readonly prompt?: string
  readonly stream?: boolean
  readonly metadata?: Readonly<Record<string, string>>
}

/** A chat completion as clients send it; `metadata` controls the upstream of the bench. */
export function chatBody(shape: Shape = {}): string {
  const { model = MODEL, prompt = QUESTION, stream, metadata } = shape
  return JSON.stringify({
    model,
    messages: [
      { role: 'system', content: 'You are a careful engineer. Answer briefly.' },
      { role: 'user', content: prompt },
    ],
    temperature: 0.2,
    max_completion_tokens: 400,
    ...(stream === undefined ? {} : { stream }),
    ...(metadata === undefined ? {} : { metadata }),
  })
}

/** Text and code with about as many quotes and line ends as real prompts. */
function longPrompt(bytes: number): string {
  const paragraph = `${QUESTION}\n\n\`\`\`ts\nconst reply = { kind: "buffered", body: "…" }\n\`\`\`\n\n`
  return paragraph.repeat(Math.ceil(bytes / paragraph.length)).slice(0, bytes)
}

const PROMPT_BYTES = 400_000
const PACE_MS = '2'

export type RowId =
  | 'buffered'
  | 'chosen'
  | 'stream'
  | 'paced'
  | 'prompt'
  | 'alone'
  | 'alone_stream'
  | 'mcp_ping'
  | 'mcp_call'
  | 'mcp_events'
  | 'mcp_ping_alone'
  | 'mcp_call_alone'

/**
 * Rows to the MCP server, and whether their requests are tool calls, each of which leaves an audit
 * row.
 */
export const mcpRows: Partial<Readonly<Record<RowId, 'ping' | 'call'>>> = {
  mcp_ping: 'ping',
  mcp_call: 'call',
  mcp_events: 'call',
  mcp_ping_alone: 'ping',
  mcp_call_alone: 'call',
}

/** Number of requests in a full pass, in a quick pass, and in the warm-up. */
type Counts = readonly [full: number, quick: number, warmUp: number]

/** All loads. A quick run sends fewer requests of each. */
export function benchRows(quick: boolean): Readonly<Record<RowId, Row>> {
  const streamed = chatBody({ stream: true })
  const paced = chatBody({ stream: true, metadata: { pace_ms: PACE_MS } })
  const prompt = chatBody({ prompt: longPrompt(PROMPT_BYTES) })
  function row(id: RowId, title: string, body: string, counts: Counts, concurrency = 32): Row {
    const [full, short, warmUp] = counts
    return { id, title, body, count: quick ? short : full, warmUp, concurrency }
  }
  function mcpRow(
    id: RowId,
    title: string,
    body: string,
    counts: Counts,
    concurrency?: number,
  ): Row {
    return { ...row(id, title, body, counts, concurrency), path: MCP_PATH }
  }
  return {
    buffered: row('buffered', 'buffered', chatBody(), [6000, 2000, 20_000]),
    chosen: {
      ...row('chosen', 'buffered, caller-chosen ids', chatBody(), [6000, 1000, 2000]),
      callerChoosesIds: true,
    },
    stream: row('stream', '64 events in one piece', streamed, [3000, 600, 4000]),
    paced: row('paced', '64 events, each by itself', paced, [640, 96, 192]),
    prompt: row('prompt', 'prompt of 400 KB', prompt, [200, 32, 80], 8),
    alone: row('alone', 'one at a time, buffered', chatBody(), [2000, 600, 200], 1),
    alone_stream: row('alone_stream', 'one at a time, streamed', paced, [30, 4, 2], 1),
    mcp_ping: mcpRow('mcp_ping', 'MCP, ping', pingBody, [6000, 2000, 8000]),
    mcp_call: mcpRow('mcp_call', 'MCP, tools/call', callBody, [6000, 2000, 16_000]),
    mcp_events: mcpRow(
      'mcp_events',
      'MCP, tools/call, as events',
      eventsCallBody,
      [4000, 2000, 8000],
    ),
    mcp_ping_alone: mcpRow(
      'mcp_ping_alone',
      'MCP, one ping at a time',
      pingBody,
      [4000, 2000, 500],
      1,
    ),
    mcp_call_alone: mcpRow(
      'mcp_call_alone',
      'MCP, one call at a time',
      callBody,
      [4000, 2000, 500],
      1,
    ),
  }
}
