import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { invalid } from './invalid.ts'

/** How a conversion handles members that its target does not support. */
export interface ParamPolicy {
  /** `unsupported_params` of the route, for all members; absent: depends on the member. */
  readonly unsupported?: 'drop' | 'reject' | undefined
  /** Members that this target refuses, in addition to those that change the answer. */
  readonly refused?: ReadonlySet<string>
  /** Called with the name of each dropped member. */
  dropped(name: string): void
}

/** Default values by member name; a member with its default value can be dropped. */
const NEUTRAL: Readonly<Record<string, readonly JsonValue[]>> = {
  best_of: [1],
  echo: [false],
  frequency_penalty: [0],
  function_call: ['auto'],
  logprobs: [false],
  min_p: [0],
  n: [1],
  parallel_tool_calls: [true],
  presence_penalty: [0],
  repetition_penalty: [1],
  service_tier: ['auto', 'default'],
  store: [false],
  stream: [false],
  tool_choice: ['auto'],
  top_logprobs: [0],
  top_p: [1],
  verbosity: ['medium'],
}

/** Members for which even an empty object is a request. */
const ASKS_WHEN_EMPTY: ReadonlySet<string> = new Set(['web_search_options'])

/**
 * Members that change the answer. All others only save cost or label calls: `store`, `metadata`,
 * `prompt_cache_key`, and unknown members.
 */
const CHANGES_THE_ANSWER: ReadonlySet<string> = new Set([
  'audio',
  'best_of',
  'echo',
  'frequency_penalty',
  'function_call',
  'functions',
  'grammar',
  'guided_choice',
  'guided_grammar',
  'guided_json',
  'guided_regex',
  'logit_bias',
  'logprobs',
  'container',
  'mcp_servers',
  'min_p',
  'modalities',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'repetition_penalty',
  'response_format',
  'stop',
  'structured_outputs',
  'suffix',
  'tool_choice',
  'tools',
  'top_k',
  'top_logprobs',
  'web_search_options',
])

/**
 * Returns the members of a chat call that a conversion must express: without absent or neutral
 * ones, and without those that `mapped` does not list, which `policy` refuses or reports. Throws
 * GatewayError `invalid_request` for one that cannot be dropped.
 */
export function readParams(
  body: Readonly<JsonObject>,
  mapped: ReadonlySet<string>,
  policy: ParamPolicy,
): JsonObject {
  const params: JsonObject = {}
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null || isNeutral(name, value, body)) continue
    if (mapped.has(name)) params[name] = value
    else if (!isEmpty(value) || ASKS_WHEN_EMPTY.has(name)) leaveOut(name, policy)
  }
  return params
}

/** Handles an unsupported member or part of one. Throws GatewayError. */
export function leaveOut(name: string, policy: ParamPolicy): void {
  const { unsupported, refused, dropped } = policy
  if (unsupported === 'reject') {
    throw invalid(`${name} is not supported by this route, which has unsupported_params: reject`)
  }
  const isRefused = CHANGES_THE_ANSWER.has(name) || refused?.has(name) === true
  if (unsupported !== 'drop' && isRefused) {
    throw invalid(
      `${name} is not supported by this route: remove it, or set unsupported_params: drop on the route`,
    )
  }
  dropped(name)
}

function isNeutral(name: string, value: JsonValue, body: Readonly<JsonObject>): boolean {
  // Own members only, because every object inherits `constructor`.
  if (Object.hasOwn(NEUTRAL, name) && NEUTRAL[name]?.includes(value)) return true
  switch (name) {
    case 'response_format':
      return isJsonObject(value) && value.type === 'text'
    case 'modalities':
      return Array.isArray(value) && value.every((kind) => kind === 'text')
    case 'tools':
    case 'functions':
    case 'stop':
      return Array.isArray(value) && value.length === 0
    case 'tool_choice':
      return value === 'none' && isEmpty(body.tools ?? null)
    case 'function_call':
      return value === 'none' && isEmpty(body.functions ?? null)
    default:
      return false
  }
}

/** Whether an unsupported member is empty. */
function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}
