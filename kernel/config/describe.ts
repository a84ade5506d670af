import { Kind, type TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { DecimalString, SECRET_KEYWORD, WRITE } from '../plugin/index.ts'
import { closest } from '../wire/suggest.ts'

export interface Description {
  readonly message: string
  readonly hint?: string
}

/** What a schema expects, in words. */
export function expectation(schema: TSchema): string {
  if (schema[SECRET_KEYWORD] === true) return 'a secret reference'
  if (schema[Kind] === 'Literal') return JSON.stringify(schema.const)
  const words: Readonly<Record<string, string>> = {
    string: 'a string',
    number: 'a number',
    integer: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a map',
    null: 'null',
  }
  return words[String(schema.type)] ?? 'something else'
}

function nameOf(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`
}

/** Describes a value of the wrong type. */
export function wrongType(expected: string, value: unknown): Description {
  const message = `must be ${expected}, but is ${nameOf(value)}`
  if (value === null) return { message, hint: 'give it a value, or remove the key' }
  if (expected === 'a string' && (typeof value === 'number' || typeof value === 'boolean')) {
    return { message, hint: `put it in quotes: "${value}"` }
  }
  if (typeof value === 'string' && /number$/.test(expected) && Number.isFinite(Number(value))) {
    return { message, hint: 'write it without quotes' }
  }
  if (expected === 'a list') {
    const isMap = typeof value === 'object'
    const hint = isMap
      ? 'begin each of its entries with "- "'
      : 'put its entries in brackets, with commas between them'
    return { message, hint }
  }
  if (typeof value === 'string' && expected === 'true or false') {
    return { message, hint: 'write true or false, without quotes' }
  }
  return { message }
}

/** Describes a value that is not a map. The hint lists the keys without a default. */
export function noMap({ required = [], properties }: TSchema, value: unknown): Description {
  const described = wrongType('a map', value)
  const known = Object.keys(properties)
  const needed = known.filter(
    (key) =>
      (required.includes(key) || known.length === 1) && properties[key].default === undefined,
  )
  if (needed.length === 0 || described.hint !== undefined) return described
  return { ...described, hint: `write { ${needed.map((key) => `${key}: …`).join(', ')} }` }
}

/** Describes a value that is not a string; suggests quotes only if the quoted value would fit. */
function noText(schema: TSchema, value: unknown): Description {
  const described = wrongType(expectation(schema), value)
  if (typeof value !== 'number' && typeof value !== 'boolean') return described
  const { pattern, [WRITE]: write } = schema
  const fits = pattern === undefined ? write === undefined : new RegExp(pattern).test(String(value))
  const wanted = write ?? schema.description
  if (fits || typeof wanted !== 'string') return described
  return { message: described.message, hint: wanted }
}

/** Describes a value that is not one of the allowed words. */
export function notAmong(words: readonly unknown[], value: unknown): Description {
  const message = `must be ${words.length > 1 ? 'one of ' : ''}${words.map(String).join(', ')}`
  const meant = typeof value === 'string' ? closest(value, words.map(String)) : undefined
  return meant === undefined ? { message } : { message, hint: `did you mean "${meant}"?` }
}

/** The beginning of the pattern of every decimal, whatever its number of places. */
const DECIMAL_PATTERN = String(DecimalString().pattern).split('{1,')[0] ?? ''

function patternFault(schema: TSchema): Description {
  const pattern = String(schema.pattern)
  if (pattern.startsWith(DECIMAL_PATTERN)) {
    const places = /\{1,(\d+)\}/.exec(pattern.slice(DECIMAL_PATTERN.length))?.[1] ?? '0'
    return {
      message: `must be a decimal number with at most ${places} decimal places`,
      hint: 'write digits and a point only, such as "12.50"',
    }
  }
  const wanted = schema[WRITE] ?? schema.description
  if (typeof wanted === 'string') return { message: `is not valid: ${wanted}` }
  return { message: `must match ${pattern}` }
}

function tooFew(least: number, parts: string): Description {
  return { message: least === 1 ? 'must not be empty' : `must have at least ${least} ${parts}` }
}

/** Describes a validation error of a value without parts. */
export function describeError(error: ValueError): Description {
  const { schema, value } = error
  switch (error.type) {
    case ValueErrorType.Number:
      return typeof value === 'number'
        ? { message: 'must be a finite number' }
        : wrongType(expectation(schema), value)
    case ValueErrorType.String:
      return noText(schema, value)
    case ValueErrorType.Boolean:
    case ValueErrorType.Array:
    case ValueErrorType.Object:
    case ValueErrorType.Null:
      return wrongType(expectation(schema), value)
    case ValueErrorType.Integer:
      return typeof value === 'number'
        ? { message: 'must be a whole number' }
        : wrongType(expectation(schema), value)
    case ValueErrorType.Literal:
      return notAmong([schema.const], value)
    case ValueErrorType.StringPattern:
      return patternFault(schema)
    case ValueErrorType.StringMinLength:
      return tooFew(schema.minLength, 'characters')
    case ValueErrorType.StringMaxLength:
      return { message: `must have at most ${schema.maxLength} characters` }
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.IntegerMinimum:
      return { message: `must be at least ${schema.minimum}` }
    case ValueErrorType.NumberMaximum:
    case ValueErrorType.IntegerMaximum:
      return { message: `must be at most ${schema.maximum}` }
    case ValueErrorType.NumberExclusiveMinimum:
    case ValueErrorType.IntegerExclusiveMinimum:
      return { message: `must be more than ${schema.exclusiveMinimum}` }
    case ValueErrorType.NumberExclusiveMaximum:
    case ValueErrorType.IntegerExclusiveMaximum:
      return { message: `must be less than ${schema.exclusiveMaximum}` }
    case ValueErrorType.ArrayMinItems:
      return tooFew(schema.minItems, 'entries')
    case ValueErrorType.ArrayMaxItems:
      return { message: `must have at most ${schema.maxItems} entries` }
    case ValueErrorType.ObjectMinProperties:
      return tooFew(schema.minProperties, 'keys')
    case ValueErrorType.ObjectMaxProperties:
      return { message: `must have at most ${schema.maxProperties} keys` }
    case ValueErrorType.ArrayUniqueItems:
      return { message: 'must not contain the same entry twice' }
    default:
      return { message: error.message }
  }
}
