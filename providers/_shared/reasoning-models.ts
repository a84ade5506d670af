/** Known facts about a model, by its upstream name. */
interface KnownModel {
  readonly name: RegExp
  /** Whether chat completions accept `reasoning_effort`, or only without functions. */
  readonly effort: boolean | 'without_tools'
  /** OpenAI serves the model, or its reasoning with functions, only by the responses API. */
  readonly needsResponses?: true
}

/** Matches a name alone, or after a prefix of an aggregator or cloud: `openai/`, `us.openai.`. */
const named = (pattern: string) => new RegExp(`(?:^|[/.:])(?:${pattern})(?=$|[-.:@])`, 'i')

/**
 * The first matching row applies. OpenAI's rows follow its error messages: "Function tools with
 * reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses
 * instead." (openai/openai-openapi#541, charmbracelet/crush#2913; from gpt-5.6 on also without an
 * effort: danny-avila/LibreChat#14355), "This model is only supported in v1/responses". Others
 * follow https://models.dev, https://docs.x.ai, https://api-docs.deepseek.com/guides/thinking_mode
 * and https://ai.google.dev/gemini-api/docs/openai.
 */
const MODELS: readonly KnownModel[] = [
  { name: named('gpt-\\d[\\d.]*-chat|o1-(?:mini|preview)'), effort: false },
  { name: named('o\\d(?:-mini)?-deep-research'), effort: false, needsResponses: true },
  {
    name: named('gpt-(?:5\\.(?:[4-9]|\\d\\d)|(?:[6-9]|1\\d)(?:\\.\\d+)?)'),
    effort: 'without_tools',
    needsResponses: true,
  },
  {
    name: named('gpt-5(?:\\.\\d)?-(?:pro|codex)|o\\d-pro|codex-mini'),
    effort: true,
    needsResponses: true,
  },
  { name: named('gpt-5(?:\\.\\d)?|o[1-9]'), effort: true },
  { name: named('(?:chat)?gpt-[34][\\w.]*'), effort: false },
  { name: named('gpt-oss'), effort: true },
  { name: named('grok-(?:3-mini|4\\.[3-9]|[5-9](?:\\.\\d+)?)'), effort: true },
  { name: named('deepseek-(?:reasoner|flash|v[4-9])'), effort: true },
  { name: named('gemini-(?:2\\.5|[3-9](?:\\.\\d+)?)'), effort: true },
]

function known(upstreamModel: string): KnownModel | undefined {
  return MODELS.find(({ name }) => name.test(upstreamModel))
}

/** Whether chat completions of a compatible upstream accept an effort; undefined if unknown. */
export function takesEffort(upstreamModel: string): KnownModel['effort'] | undefined {
  return known(upstreamModel)?.effort
}

/**
 * OpenAI's models without text completions: "This is a chat model and not supported in the
 * v1/completions endpoint".
 */
const CHAT_ALONE = named('(?!.*instruct)(?:chatgpt|gpt-\\d[\\w.]*|o\\d)')

/** Whether text completions of the model must be sent as chat. */
export function hasChatAlone(upstreamModel: string): boolean {
  return CHAT_ALONE.test(upstreamModel)
}

/** Whether OpenAI requires its responses API for the model. */
export function needsResponses(upstreamModel: string): boolean {
  return known(upstreamModel)?.needsResponses === true
}
