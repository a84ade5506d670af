import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { invalid } from './invalid.ts'

/** What becomes of members of a call for which the target of a conversion has no place. */
export interface ParamPolicy {
  /** `unsupported_params` of the route: all of them go the same way; absent, meaning decides. */
  readonly unsupported?: 'drop' | 'reject' | undefined
  /** Members that this target refuses beside those that change the answer. */
  readonly refused?: ReadonlySet<string>
  /** Called with the name of each member that is left out. */
  dropped(name: string): void
}

/** Values that say what is the case without them, by the member's name. */
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

/** Members of which an empty object already asks for something. */
const ASKS_WHEN_EMPTY: ReadonlySet<string> = new Set(['web_search_options'])

/**
 * Members without which the answer would be another one. All others save something, or help to tell
 * calls apart: `store`, `metadata`, `prompt_cache_key`, and members that are not known here.
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
 * The members of a chat call that its conversion has to say: without those that are absent or
 * neutral, and without those that `mapped` does not name, which `policy` refuses or reports. Throws
 * GatewayError `invalid_request` for one that cannot be left out.
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

/** One member, or part of one, for which there is no place. Throws GatewayError. */
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
  // `constructor` is what every object has.
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

/** What a member that has no place holds, when it holds nothing. */
function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}
