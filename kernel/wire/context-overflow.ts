import type { ContextOverflow } from '../plugin/surface.ts'

/** Codes and types that mean overflow. GitHub Models uses the third, llama.cpp the last. */
const CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'tokens_limit_reached',
  'model_context_window_exceeded',
  'exceed_context_size_error',
])

/**
 * Messages of services for a prompt that is too long, without a code. `tokens` is the size of the
 * request, `limit` that of the model.
 */
const WORDS: readonly (readonly [service: string, words: RegExp])[] = [
  ['Anthropic', /prompt is too long(?::? (?<tokens>[\d,]+) tokens > (?<limit>[\d,]+))?/i],
  ['Anthropic', /exceed context limit: [\d,]+ \+ [\d,]+ > (?<limit>[\d,]+)/i],
  [
    'OpenAI, Azure, vLLM, OpenRouter, DeepSeek',
    /maximum context length is (?<limit>[\d,]+)(?: tokens)?(?:[.,;]? (?:however,? )?(?:you requested|your (?:messages|prompt|input) (?:resulted in|contains?))(?: about)? (?<tokens>[\d,]+) tokens)?/i,
  ],
  ['OpenAI Responses', /exceeds? the (?:model's )?(?:maximum )?context (?:window|length)/i],
  ['AWS', /input is too long for (?:the )?requested model/i],
  ['AWS', /number of input tokens exceeds maximum length/i],
  [
    'Gemini',
    /input token count(?: \((?<tokens>[\d,]+)\))? exceeds the maximum number of tokens allowed(?: \(?(?<limit>[\d,]+))?/i,
  ],
  [
    'xAI',
    /maximum prompt length is (?<limit>[\d,]+)(?: but the request contains (?<tokens>[\d,]+))?/i,
  ],
  ['Cerebras', /current length is (?<tokens>[\d,]+) while limit is (?<limit>[\d,]+)/i],
  ['Groq', /reduce the length of the (?:messages|prompt)/i],
  [
    'Mistral',
    /prompt contains (?<tokens>[\d,]+) tokens.{0,80}too large for model with (?<limit>[\d,]+) maximum context/i,
  ],
  ['Mistral', /too large for model with (?<limit>[\d,]+) maximum context/i],
  [
    'llama.cpp',
    /(?:\((?<tokens>[\d,]+) tokens\) )?exceeds the available context size(?: \((?<limit>[\d,]+))?/i,
  ],
  ['LM Studio', /greater than the context length/i],
  ['Ollama', /prompt too long; exceeded (?:max )?context length/i],
  [
    'SGLang',
    /\((?<tokens>[\d,]+) tokens\) is longer than the model's context length \((?<limit>[\d,]+)/i,
  ],
  [
    'vLLM',
    /prompt \((?:length |total length )?(?<tokens>[\d,]+)[^)]{0,20}\) is (?:too long|longer)[^\d]{0,60}(?<limit>[\d,]+)/i,
  ],
  ['vLLM', /context length is only (?<limit>[\d,]+) tokens/i],
  [
    'Moonshot',
    /exceeded model token limit(?:: (?<limit>[\d,]+) \(requested: (?<tokens>[\d,]+)\))?/i,
  ],
  ['Copilot', /token count of (?<tokens>[\d,]+) exceeds the limit of (?<limit>[\d,]+)/i],
  ['MiniMax', /context window exceeds limit/i],
  ['Zhipu', /prompt exceeds max(?:imum)? length/i],
  ['DashScope', /range of input length should be \[\d+, (?<limit>[\d,]+)\]/i],
  ['Cohere', /too many tokens: size limit exceeded/i],
  ['TGI', /must have less than (?<limit>[\d,]+) tokens\. Given: (?<tokens>[\d,]+)/i],
  ['TGI', /tokens \+ `max_new_tokens` must be <= (?<limit>[\d,]+)/i],
  ['others', /context[_ ](?:length|window)[_ ]exceeded/i],
]

/** Returns the sizes if an upstream's error means that the prompt is too long; else undefined. */
export function contextOverflow(
  codes: readonly (string | undefined)[],
  message: string,
): ContextOverflow | undefined {
  for (const [, words] of WORDS) {
    const found = words.exec(message)
    if (found !== null) return { tokens: count(found, 'tokens'), limit: count(found, 'limit') }
  }
  return codes.some((code) => code !== undefined && CODES.has(code)) ? {} : undefined
}

function count({ groups }: RegExpExecArray, name: string): number | undefined {
  const digits = groups?.[name]?.replaceAll(',', '')
  return digits === undefined || digits === '' ? undefined : Number(digits)
}
