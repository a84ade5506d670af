import { type TObject, Type } from '@sinclair/typebox'
import { TypeCompiler, type ValueError } from '@sinclair/typebox/compiler'
import { ValueErrorType } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'
import { GatewayError } from 'model-gateway/plugin'
import { DEEPEST_JSON, nestsTooDeep } from 'model-gateway/wire'
import type { AdminRoute } from './contract.ts'

const nothing = Type.Object({}, { additionalProperties: false })
const NOTHING = /^\s*(?:\{\s*\})?\s*$/

/** Whether a body is empty or `{}`, because some clients send JSON with every request. */
export const saysNothing = (text: string): boolean => NOTHING.test(text)

/** Validates the parts of a request by the schemas of a route. Throws on the first invalid part. */
export interface RequestCheck {
  params(values: Readonly<Record<string, string>>): unknown
  /** Throws `invalid_request`. */
  query(url: URL): unknown
  /**
   * Throws `invalid_request` if it is not JSON or is nested too deeply, and `validation_failed` if
   * it does not fit the schema. A POST without required members may omit the body.
   */
  body(text: string): unknown
}

export function compileCheck(route: AdminRoute): RequestCheck {
  const name = `${route.method} ${route.path}`
  const query = route.query ?? nothing
  const checkQuery = TypeCompiler.Compile(query)
  const checkParams = TypeCompiler.Compile(route.params ?? Type.Object({}))
  const checkBody = route.body === undefined ? undefined : TypeCompiler.Compile(route.body)
  return {
    params(values) {
      if (checkParams.Check(values)) return values
      // An id that fails its schema cannot exist: 404, not 400.
      throw new GatewayError('not_found', 'no resource has this id')
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
        if (saysNothing(text)) return undefined
        throw new GatewayError('invalid_request', `${name} does not accept a body`)
      }
      if (text.trim() === '' && route.method === 'POST' && checkBody.Check({})) return {}
      const value = parse(text)
      if (route.allowsNul !== true && SUSPICIOUS.test(text)) {
        const problem = unkeepable(value)
        if (problem !== undefined) throw invalidBody([problem])
      }
      if (checkBody.Check(value)) return value
      throw invalidBody(problemsOf(checkBody.Errors(value)), 'the body is not valid: ')
    },
  }
}

const MAX_PROBLEMS = 20

function queryValues(url: URL, schema: TObject): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, value] of url.searchParams) {
    if (!Object.hasOwn(schema.properties, name)) {
      const known = Object.keys(schema.properties).join(', ')
      throw new GatewayError(
        'invalid_request',
        `query ${name}: is not a known parameter; ${known === '' ? 'this route takes none' : `known: ${known}`}`,
      )
    }
    if (value.includes('\0')) throw new GatewayError('invalid_request', `query ${name}: ${NUL}`)
    if (schema.properties[name]?.type === 'integer' && !/^-?\d{1,15}$/.test(value)) {
      throw new GatewayError('invalid_request', `query ${name}: must be a whole number`)
    }
    if (Object.hasOwn(values, name))
      throw new GatewayError('invalid_request', `query ${name}: is given twice; send it once`)
    values[name] = value
  }
  return values
}

function invalidBody(problems: BodyProblem[], intro = ''): GatewayError {
  const list = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
  return new GatewayError('validation_failed', intro + list, { details: { problems } })
}

/**
 * Escapes of characters that the database cannot store. Valid surrogate pairs match too, so the
 * strings are checked again.
 */
const SUSPICIOUS = /\\u(?:0000|d[89a-f])/i
const NUL = 'contains the character U+0000; leave it out'
const HALF = 'contains an unpaired surrogate; send whole characters'

/** Why no database keeps a text as it is. */
function faultOf(text: string): string | undefined {
  if (text.includes('\0')) return NUL
  return text.isWellFormed() ? undefined : HALF
}

/** The first string in a body that the database cannot store. */
function unkeepable(body: unknown): BodyProblem | undefined {
  const left: [value: unknown, path: string][] = [[body, '']]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [value, path] = next
    if (typeof value === 'string') {
      const message = faultOf(value)
      if (message !== undefined) return { path: placeOf(path), message }
    }
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      const message = faultOf(name)
      if (message !== undefined) {
        // Report the parent: the path itself must be readable text.
        return { path: placeOf(path), message: `a member name ${message}` }
      }
      left.push([member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`])
    }
  }
  return undefined
}

function parse(text: string): unknown {
  if (text === '') throw new GatewayError('invalid_request', 'the request has no body; send JSON')
  if (nestsTooDeep(text)) {
    throw new GatewayError(
      'invalid_request',
      `the body nests arrays and objects more than ${DEEPEST_JSON} levels deep`,
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new GatewayError('invalid_request', 'the body is not valid JSON', { cause: error })
  }
}

/** A type and no interface, so that it is JSON. */
type BodyProblem = { readonly path: string; readonly message: string }

/**
 * One problem per path, because TypeBox reports a missing member twice: as missing and with a wrong
 * type.
 */
function problemsOf(errors: Iterable<ValueError>): BodyProblem[] {
  const problems = new Map<string, BodyProblem>()
  for (const error of errors) {
    if (problems.size === MAX_PROBLEMS) break
    const problem = problemOf(error)
    if (!problems.has(problem.path)) problems.set(problem.path, problem)
  }
  return [...problems.values()]
}

function problemOf(error: ValueError): BodyProblem {
  return { path: placeOf(error.path), message: messageOf(error) }
}

function placeOf(path: string): string {
  return path === '' ? '/' : path
}

function describe(error: ValueError): string {
  return `${error.path.slice(1)}: ${messageOf(error)}`
}

/** The schema's own words where it has some. */
function messageOf({ type, schema, message }: ValueError): string {
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is required'
  if (typeof schema.errorMessage === 'string') return schema.errorMessage
  if (message !== 'Unexpected property') return lowerFirst(message)
  return `is not a known member; known: ${Object.keys(schema.properties ?? {}).join(', ') || 'none'}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
