import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Execute, ProviderCall, RouteSpec } from 'model-gateway/provider'
import {
  leaveOut,
  OWN_THINKING,
  type ParamPolicy,
  UNSIGNED,
  withoutClientOnly,
} from 'model-gateway/wire'
import { betasFor, type RouteBetas, withBetas } from './betas.ts'
import { billingModifiers } from './billing-modifiers.ts'
import { bedrockTakesStrict } from './chat-tools.ts'
import { type CompatEndpoint, EVENT_STREAM, postJson, readAnswer } from './compat-http.ts'
import { mergeDeepInto } from './merge-extra-body.ts'
import type { MessagesDialect } from './messages-dialect.ts'
import { BILLING_MODIFIERS } from './messages-request.ts'
import { type OutboundBody, outboundBody, setStream } from './outbound-body.ts'
import { decideReasoning, EFFORT_BETA, omitsSampling, readReasoning } from './reasoning.ts'
import { claudeName, type ReasoningTier, reasoningTier } from './reasoning-tiers.ts'

/** A route with the messages API; `upstreamModel` is without publisher. */
export interface NativeRoute
  extends Pick<RouteSpec, 'upstreamModel' | 'extraBody' | 'unsupportedParams'> {
  readonly dialect: MessagesDialect
  readonly betas?: RouteBetas | undefined
}

/**
 * Passes messages calls on, except for what the gateway sets: model, version, `stream`, betas,
 * reasoning tiers, and the operator's `extra_body`.
 */
export function nativeMessages(
  endpoints: { readonly buffered: CompatEndpoint; readonly streamed: CompatEndpoint },
  route: NativeRoute,
  billingHeaders: readonly string[] = [],
): Execute {
  return async (call) => {
    const { body, betas } = nativeRequest(route, call)
    const endpoint = withBetas(call.stream ? endpoints.streamed : endpoints.buffered, betas)
    const accept = call.stream ? EVENT_STREAM : 'application/json'
    const modifiers = billingModifiers(BILLING_MODIFIERS, body.get)
    const response = await postJson(endpoint, call, body.text(), accept)
    return {
      ...(await readAnswer(response, call)),
      billingModifiers: [...billingHeaders, ...modifiers],
    }
  }
}

/** The request body; `betas` are those of the header. Throws GatewayError `invalid_request`. */
export function nativeRequest(
  route: NativeRoute,
  call: Pick<ProviderCall, 'body' | 'rawBody' | 'headers' | 'stream' | 'dropped'>,
): { body: OutboundBody; betas: readonly string[] } {
  const { dialect, upstreamModel, extraBody } = route
  const policy = { unsupported: route.unsupportedParams, dropped: call.dropped }
  const body = outboundBody(call)
  setOrRemove(body, 'anthropic_version', dialect.version)
  setOrRemove(body, 'model', dialect.sendsModel ? upstreamModel : undefined)
  if (dialect.sendsStream === 'never') setOrRemove(body, 'stream', undefined)
  else if (dialect.sendsStream === 'always') body.set('stream', call.stream)
  else setStream(body, call.stream)
  // No rules for unknown models: the vendor's newest, or another vendor's.
  const isKnown = dialect.providerType !== 'anthropic' || claudeName(upstreamModel) !== undefined
  if (isKnown) applyTier(body, reasoningTier(upstreamModel))
  const isBedrock = dialect.providerType === 'cloud_b_ml'
  const refusesStrict = isBedrock && !bedrockTakesStrict(upstreamModel)
  if (refusesStrict) drop(body, 'tools.*.strict', policy)
  dropUnsigned(body, call)
  if (dialect.cloud !== 'vendor') dropClientOnly(body)
  const betas = applyBetas(body, call, route, policy)
  mergeDeepInto(body, extraBody)
  return { body, betas }
}

function dropClientOnly(body: OutboundBody): void {
  const system = body.get('system') ?? null
  const kept = withoutClientOnly(system)
  if (kept !== system) body.set('system', kept)
}

function setOrRemove(body: OutboundBody, name: string, value: JsonValue | undefined): void {
  if (value !== undefined) body.set(name, value)
  else if (body.get(name) !== undefined) body.remove(name)
}

/** Applies the rules of the model's tier to thinking, effort and sampling. */
function applyTier(body: OutboundBody, tier: ReasoningTier): void {
  const [stated, output] = [body.get('thinking') ?? undefined, body.get('output_config')]
  const wish = readReasoning({ thinking: stated, output_config: output })
  const { thinking } = decideReasoning(tier, wish)
  if (thinking !== undefined && thinking !== stated) body.set('thinking', thinking)
  for (const [name, neutral] of [
    ['temperature', 1],
    ['top_p', 1],
    ['top_k', undefined],
  ] as const) {
    const value = body.get(name)
    if (value !== undefined && omitsSampling(tier, name, value, neutral)) body.remove(name)
  }
}

const SCOPE = /^prompt-caching-scope-/
const EXAMPLES = /^(?:advanced-tool-use|tool-examples)-/

/** Removes members that need a beta which is not sent. */
const NEEDS_BETA: readonly { readonly path: string; readonly betas: RegExp }[] = [
  { path: 'context_management', betas: /^(?:context-management|compact)-/ },
  { path: 'mcp_servers', betas: /^mcp-client-/ },
  { path: 'container', betas: /^(?:skills|code-execution)-/ },
  { path: 'speed', betas: /^fast-mode-/ },
  { path: 'tools.*.input_examples', betas: EXAMPLES },
  { path: 'tools.*.cache_control.scope', betas: SCOPE },
  { path: 'system.*.cache_control.scope', betas: SCOPE },
  { path: 'messages.*.content.*.cache_control.scope', betas: SCOPE },
]

const MOST_NAMED = 16
const NAMED = /^[\w.-]{1,48}$/

/** The betas of the header; those in the body are set there. */
function applyBetas(
  body: OutboundBody,
  { headers = {} }: Pick<ProviderCall, 'headers'>,
  route: NativeRoute,
  policy: ParamPolicy,
): readonly string[] {
  const header = headers['anthropic-beta'] ?? ''
  const named = [...listed(body.get('anthropic_beta')), ...header.split(',')]
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
  const { dialect, upstreamModel } = route
  const { sent, dropped } = betasFor(dialect.cloud, upstreamModel, named, route.betas)
  const all =
    marksEffort(body, route) && !sent.includes(EFFORT_BETA) ? [...sent, EFFORT_BETA] : sent
  const tellable = dropped.filter((beta) => NAMED.test(beta)).slice(0, MOST_NAMED)
  for (const beta of tellable) leaveOut(`anthropic_beta.${beta}`, policy)
  if (tellable.length < dropped.length) leaveOut('anthropic_beta', policy)
  for (const { path, betas } of NEEDS_BETA) {
    const isLost = named.some((beta) => betas.test(beta)) && !all.some((beta) => betas.test(beta))
    if (isLost) drop(body, path, policy)
  }
  const inBody = dialect.betas === 'body' && all.length > 0
  setOrRemove(body, 'anthropic_beta', inBody ? [...all] : undefined)
  return dialect.betas === 'header' ? all : []
}

/** On this cloud an effort needs its beta for models of this tier. */
function marksEffort(body: OutboundBody, { dialect, upstreamModel }: NativeRoute): boolean {
  const output = body.get('output_config')
  return (
    dialect.providerType === 'cloud_b_ml' &&
    isJsonObject(output) &&
    (output.effort ?? null) !== null &&
    reasoningTier(upstreamModel) === 'mid'
  )
}

function drop(body: OutboundBody, path: string, policy: ParamPolicy): void {
  const [name = '', ...rest] = path.split('.')
  const stated = body.get(name) ?? undefined
  const kept = rest.length === 0 ? undefined : without(stated, rest)
  if (kept === stated) return
  leaveOut(path.replaceAll('.*', '[]'), policy)
  setOrRemove(body, name, kept)
}

function listed(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? value : [value]
  return list.filter((each) => typeof each === 'string')
}

/** Unsigned thinking, which the gateway returns for models that do not sign. */
function dropUnsigned(body: OutboundBody, { rawBody }: Pick<ProviderCall, 'rawBody'>): void {
  if (rawBody !== undefined && !rawBody.includes(OWN_THINKING)) return
  const messages = body.get('messages')
  if (!Array.isArray(messages)) return
  let changed = false
  const kept = messages.map((message) => {
    if (!isJsonObject(message) || !Array.isArray(message.content)) return message
    const content = message.content.filter((block) => !isOwnThinking(block))
    if (content.length === message.content.length) return message
    changed = true
    return { ...message, content }
  })
  if (changed) body.set('messages', kept)
}

function isOwnThinking(block: JsonValue): boolean {
  if (!isJsonObject(block)) return false
  const { type, signature, data } = block
  if (type === 'thinking') return signature === UNSIGNED
  return type === 'redacted_thinking' && String(data).startsWith(OWN_THINKING)
}

/**
 * The value without the member at the path; `*` is each list entry. The same value if it is absent.
 */
function without(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  const [step, ...rest] = path
  if (Array.isArray(value)) {
    const list = value.map((each) => without(each, step === '*' ? rest : path) as JsonValue)
    return list.some((each, i) => each !== value[i]) ? list : value
  }
  if (!isJsonObject(value) || step === undefined || value[step] === undefined) return value
  if (rest.length === 0) {
    const { [step]: _, ...others } = value
    return others
  }
  const inner = without(value[step], rest)
  return inner === value[step] ? value : { ...value, [step]: inner }
}
