import type { GuardPhase } from '../../../kernel/plugin/index.ts'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { adaKey, eventually, startTestGateway, testKey } from '../../harness/gateway.ts'
import { believable, startUpstream } from '../../harness/upstream.ts'
import { event, events, fine, startMcpUpstream, toolCall } from '../mcp/mcp-upstream.fixture.ts'
import type { Column, Row } from './route-matrix.fixture.ts'
import { FORBIDDEN } from './route-matrix-guard.fixture.ts'

/** Its owner's budget is used up. */
export const poorKey = testKey('poor')
/** It is granted another model than the one that is asked for. */
export const otherKey = testKey('other')
export const goodKey = adaKey

const MODEL = 'm'
const TOOL = 'weather'
const user = (name: string, value: string, key: object, more: object = {}) => ({
  name,
  email: `${name}@example.com`,
  api_keys: [{ name: 'test', value: `literal.${value}`, ...key }],
  ...more,
})

/** A gateway with every plane open, its upstreams, and what a probe has to know of them. */
export async function startWorld() {
  const upstream = await startUpstream()
  const mcp = startMcpUpstream()
  const route = { provider: 'up', upstream_model: 'upstream-1' }
  const price = {
    input_usd_per_million: '100',
    cache_read_usd_per_million: '100',
    output_usd_per_million: '100',
  }
  const guard = new URL('./route-matrix-guard.fixture.ts', import.meta.url).pathname
  const others = Object.keys(builtins).filter((name) => name !== 'guardrails')
  const gateway = await startTestGateway({
    plugins: [...others.map((name) => ({ use: `builtin:${name}` })), { use: guard }],
    providers: [
      { id: 'up', type: 'generic_compat', base_url: upstream.url, pricing_provider_id: 'test' },
    ],
    models: [
      { id: MODEL, routes: [route] },
      { id: 'else', routes: [route] },
    ],
    pricing: { overrides: [{ pricing_provider_id: 'test', model: 'upstream-1', ...price }] },
    mcp: {
      allow_private_networks: true,
      servers: [
        { server_key: 'tools', display_name: 'Tools', server_url: mcp.url, allow_private: true },
      ],
    },
    users: [
      user('good', goodKey, { all_models: true }),
      user('other', otherKey, { models: ['else'] }),
      user(
        'poor',
        poorKey,
        { all_models: true },
        { budget: { cadence: 'monthly', amount_usd: '0.000001' } },
      ),
    ],
  })
  const spent = await gateway.post('/v1/chat/completions', bodyOf('/v1/chat/completions', 'hi'), {
    authorization: `Bearer ${poorKey}`,
  })
  if (spent.status !== 200) throw new Error(await spent.text())
  return {
    gateway,
    upstream,
    mcp,
    async stop() {
      await gateway.stop()
      await upstream.stop()
      await mcp.stop()
    },
  }
}
export type World = Awaited<ReturnType<typeof startWorld>>

/** Routes whose replies are never streamed, and those that are sent one prompt. */
const whole = ['/v1/embeddings', '/v1/moderations', '/v1/rerank', '/v2/rerank']
const prompted = ['/v1/completions', '/v1/images/generations']

/** A body for the route, with a tool that a reply can call. */
function bodyOf(path: string, text: string, more: { stream?: boolean; tool?: string } = {}) {
  const { stream = false, tool } = more
  const parameters = { type: 'object', properties: {} }
  const messages = [{ role: 'user', content: text }]
  const asked = { model: MODEL, ...(stream && { stream }) }
  if (whole.includes(path)) return { ...asked, input: text, query: text, documents: [text] }
  if (prompted.includes(path)) return { ...asked, prompt: text }
  if (path === '/v1/responses') {
    const tools = [{ type: 'function', name: tool, parameters, strict: false }]
    return { ...asked, input: text, ...(tool !== undefined && { tools }) }
  }
  if (path.endsWith('/messages')) {
    const tools = [{ name: tool, input_schema: parameters }]
    return { ...asked, max_tokens: 100, messages, ...(tool !== undefined && { tools }) }
  }
  if (path.endsWith('/models/*')) {
    const tools = [{ functionDeclarations: [{ name: tool, parameters }] }]
    const contents = [{ role: 'user', parts: [{ text }] }]
    return { stream, contents, ...(tool !== undefined && { tools }) }
  }
  const tools = [{ type: 'function', function: { name: tool, parameters } }]
  return { ...asked, messages, ...(tool !== undefined && { tools }) }
}

/** Where a call goes: Google's API has the model and the way of the answer in the path. */
function addressOf(path: string, body: object | undefined): string {
  const streams = body !== undefined && 'stream' in body && body.stream === true
  return path
    .replace(':server_key', 'tools')
    .replace('*', `${MODEL}:${streams ? 'streamGenerateContent' : 'generateContent'}`)
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly requestId: string
  /** Whether it caused a call of an upstream. */
  readonly dispatched: boolean
}

let numbers = 0

/**
 * What a route really does, found out by requests to it through `door`. Request ids begin with
 * `prefix`.
 */
export async function observe(
  { method, path }: Row,
  world: World,
  { door = world.gateway.url, prefix = 'probe' } = {},
): Promise<Row> {
  const { gateway, upstream, mcp } = world
  const isMcp = path.startsWith('/mcp/')
  const isInference = !isMcp && method === 'POST'
  const streams = isInference && !whole.includes(path)

  async function ask(key: string | undefined, body: object | undefined): Promise<Answer> {
    const requestId = `${prefix}-${process.pid}-${++numbers}`
    const before = upstream.journal.calls.length + mcp.seen.length
    const response = await fetch(door + addressOf(path, body), {
      method,
      headers: {
        'x-request-id': requestId,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(isMcp && { accept: 'application/json, text/event-stream' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const dispatched = upstream.journal.calls.length + mcp.seen.length > before
    return { status: response.status, text, requestId, dispatched }
  }
  const ordinary = (text = 'hi', more = {}): object | undefined =>
    method !== 'POST' ? undefined : isMcp ? toolCall(1, 'echo', { text }) : bodyOf(path, text, more)

  async function refused(key: string | undefined, status: number, code: string) {
    const answer = await ask(key, ordinary())
    return answer.status === status && answer.text.includes(code) && !answer.dispatched
  }

  async function hasAccess() {
    if (method === 'POST') return !(await refused(otherKey, 403, 'model_not_granted'))
    return (await ask(otherKey, undefined)).text === (await ask(goodKey, undefined)).text
  }

  /** Denied in this phase, without a word of what was denied. */
  const denies = ({ text }: Answer, phase: GuardPhase) =>
    text.includes('guardrail_denied') && text.includes(phase) && !text.includes(FORBIDDEN)

  async function inEachShape(phase: GuardPhase, text: string, tool?: string) {
    for (const stream of streams ? [false, true] : [false]) {
      const answer = await ask(goodKey, ordinary(text, { stream, tool }))
      if (!denies(answer, phase) || (phase === 'prompt' && answer.dispatched)) return false
    }
    return true
  }

  async function guarded(): Promise<GuardPhase[]> {
    const phases: GuardPhase[] = []
    const probe = async (phase: GuardPhase, denied: Promise<boolean>) => {
      if (await denied) phases.push(phase)
    }
    if (isInference) {
      await probe('prompt', inEachShape('prompt', FORBIDDEN))
      upstream.always(believable({ text: FORBIDDEN }))
      await probe('model_response', inEachShape('model_response', 'hi'))
      upstream.always(believable())
      await probe('generated_tool_call', inEachShape('generated_tool_call', 'hi', FORBIDDEN))
    }
    if (isMcp) {
      const call = await ask(goodKey, ordinary(FORBIDDEN))
      if (denies(call, 'mcp_call') && !call.dispatched) phases.push('mcp_call')
      mcp.script = () =>
        method === 'GET' ? events([event(fine(1, FORBIDDEN))]) : Response.json(fine(1, FORBIDDEN))
      if (denies(await ask(goodKey, ordinary()), 'mcp_result')) phases.push('mcp_result')
      mcp.script = undefined
    }
    return phases
  }

  const count = async (table: string, ids: readonly string[]) => {
    const [row] = await gateway.sql.unsafe<{ count: number }[]>(
      `select count(distinct request_id)::int from ${table} where request_id = any($1)`,
      [ids as string[]],
    )
    return row?.count
  }

  /** Calls that succeed, in each shape; their ids. */
  async function succeed(): Promise<string[]> {
    const ids: string[] = []
    for (const stream of streams ? [false, true] : [false]) {
      const { status, text, requestId } = await ask(goodKey, ordinary('hi', { stream, tool: TOOL }))
      if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`)
      ids.push(requestId)
    }
    return ids
  }

  async function recordOf(ids: readonly string[]): Promise<Row['record']> {
    await logsWritten(world)
    if (isMcp) await auditWritten(world)
    if ((await count('request_log.request_logs', ids)) === ids.length) return 'request log'
    const audited = await count('mcp_audit.mcp_tool_invocations', ids)
    return audited === ids.length ? 'MCP audit' : 'none'
  }

  if (method === 'GET' && isMcp) mcp.script = () => events([event({ jsonrpc: '2.0', method: 'x' })])
  const unknown = await refused(undefined, 401, 'missing_authorization_header')
  const wrong = await refused(testKey('nobody'), 401, 'api_key_not_found')
  const access = (await hasAccess()) ? 'any key' : 'model grants'
  const poor = await ask(poorKey, ordinary())
  const stopped = poor.status !== 200 && poor.text.includes('budget_exceeded') && !poor.dispatched
  const ids = await succeed()
  const settled = (await count('accounting.usage_cost_events', ids)) === ids.length
  const record = await recordOf(ids)
  return {
    method,
    path,
    authentication: unknown && wrong ? 'api_key' : 'nobody is asked',
    access,
    admission: stopped ? 'budget' : 'none',
    settlement: settled ? 'ledger' : 'none',
    record,
    guard: await guarded(),
  }
}

/** Rows are written in order: when that of a later call is there, so are all before it. */
async function logsWritten({ gateway }: World): Promise<void> {
  const path = '/v1/chat/completions'
  const id = (await gateway.post(path, bodyOf(path, 'hi'))).headers.get('x-request-id')
  await eventually(async () => {
    const [row] = await gateway.sql`select from request_log.request_logs where request_id = ${id}`
    return row
  })
}

/** So are those of the MCP audit. */
async function auditWritten({ gateway }: World): Promise<void> {
  const call = toolCall(1, 'echo', { text: 'hi' })
  const accept = 'application/json, text/event-stream'
  const id = (await gateway.post('/mcp/tools', call, { accept })).headers.get('x-request-id')
  await eventually(async () => {
    const [row] = await gateway.sql`
      select from mcp_audit.mcp_tool_invocations where request_id = ${id}`
    return row
  })
}

/** The columns in which two rows differ. */
export function differences(one: Row, other: Row): Column[] {
  const columns: Column[] = [
    'authentication',
    'access',
    'admission',
    'guard',
    'settlement',
    'record',
  ]
  return columns.filter((column) => String(one[column]) !== String(other[column]))
}
