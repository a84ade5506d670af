import { open } from 'node:fs/promises'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalid, nestsTooDeep, setMembers } from 'model-gateway/wire'

/** A model that lines of a batch name, as the gateway and the provider call it. */
export interface LineModel {
  /** As the caller names it: a model, an alias or a tag selector. */
  readonly requested: string
  readonly resolved: string
  readonly upstream: string
}

/** Which models the lines of a file name. */
export interface BatchLines {
  /** At least one. */
  readonly models: readonly LineModel[]
  /** Lines of others than the first model: its place among them by `custom_id`. */
  readonly others: Readonly<Record<string, number>>
}

/** The model of an output's line. */
export function modelOf({ models, others }: BatchLines, customId: string): LineModel {
  const at = Object.hasOwn(others, customId) ? others[customId] : 0
  return (models[at ?? 0] ?? models[0]) as LineModel
}

const MAX_LINE_BYTES = 64 * 1024 * 1024
const WRITE_BYTES = 256 * 1024
const NEWLINE = 0x0a

/**
 * The lines of a text in pieces, without their ends. Throws `invalid_request` for one that is too long, or,
 * where they are to be sent on, is not UTF-8.
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

/** A line as JSON; `undefined` for an empty one. */
function parseLine(text: string): JsonValue | undefined {
  return text.trim() === '' ? undefined : (JSON.parse(text) as JsonValue)
}

/** Finds the model that a line names on the provider of the file. Throws GatewayError. */
export type ResolveModel = (path: string, model: string) => Promise<LineModel>

/** The path of lines that name none. */
const CHAT = '/v1/chat/completions'

/**
 * Writes lines behind what is in `to`, each with the provider's name of its model. Throws GatewayError
 * `invalid_request` with the number of a line that cannot be run; then `to` is of no use.
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

/** The same refusal, with the line that it is about. */
function atLine(error: unknown, number: number): unknown {
  if (error instanceof Error) error.message = `line ${number}: ${error.message}`
  return error
}

const short = (text: string) => text.slice(0, 64)

/** What a line of an output says; `undefined` for one that is not a reply. */
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
