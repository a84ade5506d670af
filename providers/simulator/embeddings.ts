import { createHash } from 'node:crypto'
import { GatewayError, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { tokensOf } from './answer.ts'
import type { Simulation } from './simulate.ts'

const DEFAULT_DIMENSIONS = 256
const MAX_DIMENSIONS = 4096

/** Embeddings: unit vectors that depend only on the input. */
export function simulateEmbeddings(body: JsonObject): Simulation {
  const inputs = readInputs(body.input)
  const dimensions = readDimensions(body.dimensions)
  const asBase64 = readEncoding(body.encoding_format) === 'base64'
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0)
  return {
    text: inputs.map(({ text }) => text).join('\n'),
    buffered: ({ model }) => ({
      object: 'list',
      data: inputs.map(({ text }, index) => {
        const vector = embed(text, dimensions)
        const embedding = asBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector]
        return { object: 'embedding', index, embedding }
      }),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    }),
  }
}

interface Input {
  readonly text: string
  readonly tokens: number
}

/** A string, a list of strings, a list of tokens, or a list of lists of tokens. */
function readInputs(input: JsonValue | undefined): Input[] {
  const isToken = (value: JsonValue) => typeof value === 'number'
  const list = Array.isArray(input) && !input.every(isToken) ? input : [input]
  return list.map((entry) => {
    if (typeof entry === 'string' && entry !== '') {
      return { text: entry, tokens: tokensOf(entry.length) }
    }
    if (Array.isArray(entry) && entry.length > 0 && entry.every(isToken)) {
      return { text: entry.join(' '), tokens: entry.length }
    }
    throw new GatewayError(
      'invalid_request',
      'input must be text, tokens, or a list of either, and not empty',
    )
  })
}

function readDimensions(dimensions: JsonValue | undefined): number {
  if (dimensions == null) return DEFAULT_DIMENSIONS
  const isWhole = typeof dimensions === 'number' && Number.isInteger(dimensions)
  if (isWhole && dimensions >= 1 && dimensions <= MAX_DIMENSIONS) return dimensions
  throw new GatewayError(
    'invalid_request',
    `dimensions must be a whole number from 1 to ${MAX_DIMENSIONS}`,
  )
}

function readEncoding(format: JsonValue | undefined): 'float' | 'base64' {
  if (format == null || format === 'float') return 'float'
  if (format === 'base64') return format
  throw new GatewayError('invalid_request', 'encoding_format must be float or base64')
}

/** Numbers from xorshift, seeded by the text's hash, scaled to length 1. */
function embed(text: string, dimensions: number): Float32Array<ArrayBuffer> {
  let state = createHash('sha256').update(text).digest().readUInt32LE() | 1
  const vector = new Float32Array(dimensions)
  let squares = 0
  for (let index = 0; index < dimensions; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    const value = state / 2 ** 31
    vector[index] = value
    squares += value * value
  }
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}
