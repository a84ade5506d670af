import { type TObject, Type } from '@sinclair/typebox'
import { TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import { Value } from '@sinclair/typebox/value'
import { type AdminRoute, GatewayError, type JsonValue } from '../plugin/index.ts'

const nothing = Type.Object({}, { additionalProperties: false })

/** The parts of a request that a route's schemas describe; throws what is wrong with them. */
export interface RequestCheck {
  params(values: Readonly<Record<string, string>>): unknown
  /** Throws `invalid_request`. */
  query(url: URL): unknown
  /** Throws `invalid_request` when it is not JSON, `validation_failed` when it has another shape. */
  body(text: string): unknown
}

export function compileCheck(route: AdminRoute): RequestCheck {
  const name = `${route.method} ${route.path}`
  const query = route.query ?? nothing
  if (query.additionalProperties !== false) {
    throw new Error(`${name}: make its query with strictObject, so that unknown names are refused`)
  }
  const checkQuery = TypeCompiler.Compile(query)
  const checkParams = TypeCompiler.Compile(route.params ?? Type.Object({}))
  const checkBody = route.body === undefined ? undefined : TypeCompiler.Compile(route.body)
  return {
    params(values) {
      if (checkParams.Check(values)) return values
      // A path that cannot be the address of anything is the address of nothing.
      throw new GatewayError('not_found', 'there is nothing with this id')
    },
    query(url) {
      const values = queryValues(url, query)
      const converted = Value.Convert(query, values)
      if (checkQuery.Check(converted)) return converted
      const [error] = checkQuery.Errors(converted)
      throw new GatewayError('invalid_request', `query ${describe(error as ValueError)}`)
    },
    body(text) {
      if (checkBody === undefined) {
        if (text === '') return undefined
        throw new GatewayError('invalid_request', `${name} takes no body`)
      }
      const value = parse(text)
      if (route.allowsNul !== true && text.includes('\\u0000') && holdsNul(value)) {
        throw nul('validation_failed', 'the body')
      }
      if (checkBody.Check(value)) return value
      const problems = [...checkBody.Errors(value)].slice(0, MAX_PROBLEMS).map(problemOf)
      throw new GatewayError(
        'validation_failed',
        `the body does not have the right shape: ${problems.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
        { details: { problems } },
      )
    },
  }
}

const MAX_PROBLEMS = 20

function queryValues(url: URL, schema: TObject): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, value] of url.searchParams) {
    if (!(name in schema.properties)) {
      const known = Object.keys(schema.properties).join(', ')
      throw new GatewayError(
        'invalid_request',
        `query ${name}: there is no such parameter; ${known === '' ? 'this route takes none' : `known are ${known}`}`,
      )
    }
    if (value.includes('\0')) throw nul('invalid_request', `query ${name}`)
    if (schema.properties[name]?.type === 'integer' && !/^-?\d{1,15}$/.test(value)) {
      throw new GatewayError('invalid_request', `query ${name}: must be a whole number`)
    }
    if (name in values) throw new GatewayError('invalid_request', `query ${name}: given twice`)
    values[name] = value
  }
  return values
}

/** No database keeps a text with this character, so that no text with it is let in. */
function nul(code: 'validation_failed' | 'invalid_request', where: string): GatewayError {
  const message = 'holds the character U+0000'
  const details = code === 'validation_failed' ? { problems: [{ path: '/', message }] } : {}
  return new GatewayError(code, `${where}: ${message}`, { details })
}

function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => name.includes('\0') || holdsNul(member))
}

function parse(text: string): unknown {
  if (text === '') throw new GatewayError('invalid_request', 'the request has no body; send JSON')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new GatewayError('invalid_request', 'the body is not valid JSON', { cause: error })
  }
}

function problemOf(
  error: ValueError,
): { path: string; message: string } & Record<string, JsonValue> {
  return { path: error.path === '' ? '/' : error.path, message: messageOf(error) }
}

function describe(error: ValueError): string {
  return `${error.path.slice(1)}: ${messageOf(error)}`
}

/** The schema's own words where it has some. */
function messageOf({ schema, message }: ValueError): string {
  if (typeof schema.errorMessage === 'string') return schema.errorMessage
  return message === 'Unexpected property' ? 'there is no such member' : lowerFirst(message)
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
