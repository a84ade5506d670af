import type { UpstreamWords } from '../plugin/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../plugin/json.ts'
import { isPresent } from './is-present.ts'

/** An upstream's error, not yet masked for callers. */
export interface ErrorWords extends UpstreamWords {
  /** Undefined without a message, or if it is a web page. */
  readonly message: string | undefined
}

/**
 * Reads an error in any known format: OpenAI, Anthropic and Google `{error: {…}}` (Google also in
 * an array), `{error: "…"}`, AWS `{message}`, `{Message}` or `{__type}`, FastAPI `{detail}` as
 * text, object or list, Mistral and Cohere `{message, type, code}`, OAuth `{error,
 * error_description}`, Cloudflare `{errors: [{…}]}`.
 */
export function readErrorWords(value: JsonValue | undefined): ErrorWords {
  const owner = first(value)
  if (!isJsonObject(owner)) return { message: text(owner) }
  const stated = owner.error ?? owner.detail ?? first(owner.errors)
  const error = isJsonObject(stated) ? stated : owner
  // In the outer object, `type` is that of the event and `status` that of the response.
  const status = error === owner ? undefined : error.status
  const ownType = error === owner && isPresent(stated) ? undefined : error.type
  const lists = [owner.detail, owner.message, inside(owner.message, 'detail')]
  const faults = lists.map(faultsOf).find(({ length }) => length > 0) ?? []
  const code =
    [error.code, status, owner.code, awsType(owner.__type)].find(isName) ??
    [error.code, owner.code].find(isNumber)
  const types = [ownType, owner.error_type].filter(isName)
  return {
    message:
      text(inside(stated, 'message')) ??
      text(owner.error_description) ??
      text(stated) ??
      text(owner.message) ??
      text(owner.Message) ??
      text(faults.map(({ words }) => words).join('; ')),
    code: code === undefined ? undefined : String(code),
    type: types.find((type) => type !== 'error'),
    param:
      typeof error.param === 'string'
        ? error.param
        : (fieldOf(error.details) ?? (faults.length === 1 ? faults[0]?.param : undefined)),
  }
}

function first(value: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(value) ? value[0] : value
}

function inside(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined
}

/** Web pages are not messages for callers. */
function text(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined
  return /<(?:!doctype|html|head|body)\b/i.test(value) ? undefined : value
}

/** Numbers only repeat the status, so a name is preferred. */
function isName(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^[A-Za-z_]/.test(value)
}

function isNumber(value: JsonValue | undefined): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
}

/** `com.amazon.coral.service#ValidationException` */
function awsType(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value.slice(value.lastIndexOf('#') + 1) : undefined
}

/** The fault of each field, without the caller's value. */
function faultsOf(list: JsonValue | undefined): { words: string; param: string | undefined }[] {
  if (!Array.isArray(list)) return []
  return list.filter(isFault).map(({ loc, msg }) => {
    if (!Array.isArray(loc)) return { words: msg, param: undefined }
    const path = loc[0] === 'body' ? loc.slice(1) : loc
    return { words: `${loc.join('.')}: ${msg}`, param: path.join('.') }
  })
}

function isFault(value: JsonValue): value is JsonObject & { msg: string } {
  return typeof inside(value, 'msg') === 'string'
}

/** The field in Google's `google.rpc.BadRequest`. */
function fieldOf(details: JsonValue | undefined): string | undefined {
  if (!Array.isArray(details)) return undefined
  const fields = details.map((detail) => inside(first(inside(detail, 'fieldViolations')), 'field'))
  return fields.find((field): field is string => typeof field === 'string')
}
