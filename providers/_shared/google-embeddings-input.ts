import type { JsonObject, JsonValue } from 'model-gateway/plugin'
import { invalidRequest } from './invalid-request.ts'

/** What a model accepts. */
export interface EmbeddingRules {
  /** Undefined if unknown: the upstream validates. */
  readonly maxDimensions: number | undefined
  /** Whether it accepts task type, title and truncation. */
  readonly takesTask: boolean
  /** Whether calls may ask for base64; otherwise what is needed for it. */
  readonly base64: true | string
}

/** A validated embeddings call. */
export interface EmbeddingsInput {
  readonly texts: readonly string[]
  readonly dimensions: number | undefined
  readonly taskType: string | undefined
  readonly title: string | undefined
  readonly autoTruncate: boolean | undefined
}

const RETRIEVAL_DOCUMENT = 'RETRIEVAL_DOCUMENT'

const TASK_TYPES: ReadonlyMap<string, string> = new Map([
  ['QUERY', 'RETRIEVAL_QUERY'],
  ['DOCUMENT', RETRIEVAL_DOCUMENT],
  ...[
    'RETRIEVAL_QUERY',
    RETRIEVAL_DOCUMENT,
    'SEMANTIC_SIMILARITY',
    'CLASSIFICATION',
    'CLUSTERING',
    'QUESTION_ANSWERING',
    'FACT_VERIFICATION',
    'CODE_RETRIEVAL_QUERY',
  ].map((name) => [name, name] as const),
])

const DIMENSIONS = ['dimensions', 'output_dimensionality', 'outputDimensionality'] as const
const TASK_TYPE = ['task_type', 'input_type'] as const
const AUTO_TRUNCATE = ['auto_truncate', 'autoTruncate'] as const

/** Fields that only `predict` models accept. */
const PREDICT_ONLY = [...TASK_TYPE, 'title', ...AUTO_TRUNCATE] as const

const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'input',
  'encoding_format',
  // Not sent: caller and delivery do not concern the upstream.
  'user',
  'stream',
  ...DIMENSIONS,
  ...PREDICT_ONLY,
])

/** Reads the call. Throws GatewayError `invalid_request` with the field name. */
export function readEmbeddingsInput(
  body: JsonObject,
  { maxDimensions, takesTask, base64 }: EmbeddingRules,
): EmbeddingsInput {
  const present = Object.keys(body).filter((name) => (body[name] ?? null) !== null)
  const unknown = present.find((name) => !KNOWN.has(name))
  if (unknown !== undefined) throw invalidRequest(`${unknown} is not supported for embeddings`)
  const misplaced = PREDICT_ONLY.find((name) => present.includes(name))
  if (!takesTask && misplaced !== undefined) {
    throw invalidRequest(`${misplaced} is not supported by this model`)
  }
  checkFormat(body.encoding_format ?? 'float', base64)
  const taskType = agreed(body, TASK_TYPE, readTaskType)
  return {
    texts: readTexts(body.input),
    dimensions: agreed(body, DIMENSIONS, (value, name) =>
      readDimensions(value, name, maxDimensions),
    ),
    taskType,
    title: readTitle(body.title, taskType),
    autoTruncate: agreed(body, AUTO_TRUNCATE, readFlag),
  }
}

function checkFormat(format: JsonValue, base64: EmbeddingRules['base64']): void {
  if (format === 'float' || (format === 'base64' && base64 === true)) return
  if (base64 === true) throw invalidRequest('encoding_format must be float or base64')
  const toAllow = format === 'base64' ? `: base64 needs ${base64}` : ''
  throw invalidRequest(`encoding_format must be float${toAllow}`)
}

function readTexts(input: JsonValue | undefined): readonly string[] {
  const texts = typeof input === 'string' ? [input] : input
  if (!Array.isArray(texts)) throw invalidRequest('input must be a string or a list of strings')
  if (texts.length === 0) throw invalidRequest('input must not be empty')
  return texts.map((text, index) => {
    const place = typeof input === 'string' ? 'input' : `input.${index}`
    if (typeof text !== 'string') {
      throw invalidRequest(`${place} must be a string: tokens, lists and media are not supported`)
    }
    if (text === '') throw invalidRequest(`${place} must not be empty`)
    return text
  })
}

/** The value of a field with several names; undefined if none is set. */
function agreed<T>(
  body: JsonObject,
  names: readonly string[],
  read: (value: JsonValue, name: string) => T,
): T | undefined {
  let found: { name: string; value: T } | undefined
  for (const name of names) {
    const written = body[name] ?? null
    if (written === null) continue
    const value = read(written, name)
    if (found !== undefined && found.value !== value) {
      throw invalidRequest(`${found.name} and ${name} contradict each other`)
    }
    found ??= { name, value }
  }
  return found?.value
}

function readDimensions(value: JsonValue, name: string, max: number | undefined): number {
  const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= 1
  if (isWhole && value <= (max ?? value)) return value
  throw invalidRequest(`${name} must be an integer from 1${max === undefined ? '' : ` to ${max}`}`)
}

function readTaskType(value: JsonValue, name: string): string {
  const word = typeof value === 'string' ? value.trim().replace(/[- ]/g, '_').toUpperCase() : ''
  const type = TASK_TYPES.get(word)
  if (type !== undefined) return type
  throw invalidRequest(`${name} must be one of ${[...TASK_TYPES.keys()].join(', ')}`)
}

function readTitle(value: JsonValue | undefined, taskType: string | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value.trim() === '') {
    throw invalidRequest('title must be a non-empty string')
  }
  if (taskType !== RETRIEVAL_DOCUMENT) {
    throw invalidRequest(`title is only possible with task_type ${RETRIEVAL_DOCUMENT}`)
  }
  return value
}

function readFlag(value: JsonValue, name: string): boolean {
  if (typeof value === 'boolean') return value
  throw invalidRequest(`${name} must be true or false`)
}
