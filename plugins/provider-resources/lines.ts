import { open } from 'node:fs/promises'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalid, nestsTooDeep, setMembers } from 'model-gateway/wire'

/** A model of batch lines, with its names in the gateway and at the provider. */
export interface LineModel {
  /** As requested: a model, an alias or a tag selector. */
  readonly requested: string
  readonly resolved: string
  readonly upstream: string
}

/** The models of the lines of a file. */
export interface BatchLines {
  /** At least one. */
  readonly models: readonly LineModel[]
  /** By `custom_id`: index in `models` of lines that do not use the first model. */
  readonly others: Readonly<Record<string, number>>
}

/** The model of an output line. */
export function modelOf({ models, others }: BatchLines, customId: string): LineModel {
  const at = Object.hasOwn(others, customId) ? others[customId] : 0
  return (models[at ?? 0] ?? models[0]) as LineModel
}

const MAX_LINE_BYTES = 64 * 1024 * 1024
const WRITE_BYTES = 256 * 1024
const NEWLINE = 0x0a

/**
 * Splits chunks of text into lines. Throws `invalid_request` for a line that is too long or, with
 * `exact`, not UTF-8.
 */
export async function* linesOf(
  pieces: AsyncIterable<Uint8Array>,
  { exact = false } = {},
): AsyncGenerator<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: exact })
  let rest: Uint8Array[] = []
  let size = 0
  let count = 0
  const end = (last: Uint8Array): string => {
    count += 1
    try {
      return utf8.decode(rest.length === 0 ? last : Buffer.concat([...rest, last]))
    } catch {
      throw invalid(`line ${count}: is not UTF-8`)
    } finally {
      rest = []
      size = 0
    }
  }
  for await (const piece of pieces) {
    let from = 0
    for (let to = piece.indexOf(NEWLINE); to !== -1; to = piece.indexOf(NEWLINE, from)) {
      yield end(piece.subarray(from, to))
      from = to + 1
    }
    size += piece.length - from
    if (size > MAX_LINE_BYTES) {
      throw invalid(`line ${count + 1}: is longer than ${MAX_LINE_BYTES} bytes`)
    }
    if (from < piece.length) rest.push(piece.slice(from))
  }
  if (size > 0) yield end(new Uint8Array())
}

/** Parses a line; `undefined` if it is empty. */
function parseLine(text: string): JsonValue | undefined {
  return text.trim() === '' ? undefined : (JSON.parse(text) as JsonValue)
}

/** Resolves the model of a line at the provider of the file. Throws GatewayError. */
export type ResolveModel = (path: string, model: string) => Promise<LineModel>

/** The default path of lines. */
const CHAT = '/v1/chat/completions'

/**
 * Appends the lines to `to`, with the provider's model names. Throws GatewayError `invalid_request`
 * with the number of an invalid line; then `to` is incomplete.
 */
export async function writeLines(
  from: AsyncIterable<Uint8Array>,
  to: string,
  resolve: ResolveModel,
): Promise<BatchLines> {
  const known = new Map<string, number>()
  const models: LineModel[] = []
  const others: Record<string, number> = {}
  const ids = new Set<string>()
  const file = await open(to, 'a')
  let waiting = ''
  let number = 0
  try {
    for await (const text of linesOf(from, { exact: true })) {
      number += 1
      const line = readLine(text, number)
      if (line === undefined) continue
      if (ids.has(line.customId)) {
        throw invalid(`line ${number}: custom_id '${short(line.customId)}' is used twice`)
      }
      ids.add(line.customId)
      const key = `${line.path} ${line.model}`
      let at = known.get(key)
      if (at === undefined) {
        const model = await resolve(line.path, line.model).catch((error: unknown) => {
          throw atLine(error, number)
        })
        at = models.push(model) - 1
        known.set(key, at)
      }
      if (at > 0) others[line.customId] = at
      const { upstream } = models[at] as LineModel
      waiting += `${setMembers(text.trim(), { model: upstream }, ['body'])}\n`
      if (waiting.length > WRITE_BYTES) {
        await file.write(waiting)
        waiting = ''
      }
    }
    await file.write(waiting)
  } finally {
    await file.close()
  }
  if (models.length === 0) throw invalid('file: has no lines; a batch needs at least one')
  return { models, others }
}

interface Line {
  readonly customId: string
  readonly path: string
  readonly model: string
}

function readLine(text: string, number: number): Line | undefined {
  let line: JsonValue | undefined
  try {
    line = nestsTooDeep(text) ? null : parseLine(text)
  } catch {
    throw invalid(`line ${number}: is not JSON`)
  }
  if (line === undefined) return undefined
  if (!isJsonObject(line)) throw invalid(`line ${number}: must be a JSON object`)
  const { custom_id: customId, url, body } = line
  if (typeof customId !== 'string' || customId === '') {
    throw invalid(`line ${number}: custom_id must be a unique, non-empty string`)
  }
  if (!isJsonObject(body)) throw invalid(`line ${number}: body must be a JSON object`)
  const { model } = body
  if (typeof model !== 'string' || model === '') {
    throw invalid(`line ${number}: body.model must name a model of this gateway`)
  }
  return { customId, path: typeof url === 'string' ? url : CHAT, model }
}

/** Adds the line number to an error. */
function atLine(error: unknown, number: number): unknown {
  if (error instanceof Error) error.message = `line ${number}: ${error.message}`
  return error
}

const short = (text: string) => text.slice(0, 64)

/** Parses an output line; `undefined` if it is not a reply. */
export interface OutputLine {
  readonly customId: string
  readonly succeeded: boolean
  readonly body: JsonObject | undefined
}

export function readOutputLine(text: string): OutputLine | undefined {
  let line: JsonValue | undefined
  try {
    line = parseLine(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(line) || typeof line.custom_id !== 'string') return undefined
  const { custom_id: customId, response } = line
  if (!isJsonObject(response)) return { customId, succeeded: false, body: undefined }
  const { status_code: status = 200, body } = response
  const succeeded = Number(status) >= 200 && Number(status) <= 299
  return { customId, succeeded, body: isJsonObject(body) ? body : undefined }
}
