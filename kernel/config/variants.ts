import { Kind, type TSchema, Type } from '@sinclair/typebox'
import { isFields } from './fields.ts'

const CHOICE = Symbol('choice')

/** A schema that depends on the value, such as on a field that names its type. */
export function chosenBy<T>(choose: (value: unknown) => TSchema) {
  return Type.Unsafe<T>({ [CHOICE]: choose })
}

/** The schema that holds for a value: any but one that depends on it is itself. */
export function schemaFor(schema: TSchema, value: unknown): TSchema {
  const choose: unknown = schema[CHOICE as unknown as string]
  return typeof choose === 'function' ? choose(value) : schema
}

/** The constants that a schema consists of; `undefined` when it is anything else. */
export function constantsOf(schema: TSchema | undefined): readonly unknown[] | undefined {
  if (schema?.[Kind] === 'Literal') return [schema.const]
  if (schema?.[Kind] !== 'Union') return undefined
  const parts = (schema.anyOf as TSchema[]).map(constantsOf)
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined
}

/** The property whose constants tell the variants apart, such as `mode`. */
export function discriminatorOf(variants: readonly TSchema[]): string | undefined {
  const [first] = variants
  if (first === undefined || !variants.every((variant) => variant[Kind] === 'Object')) return
  return Object.keys(first.properties).find((name) =>
    variants.every((variant) => constantsOf(variant.properties[name]) !== undefined),
  )
}

/** Whether the value is of the JSON type that the schema asks for. */
export function isLike(schema: TSchema, value: unknown): boolean {
  if (schema[CHOICE as unknown as string] !== undefined) return true
  if (schema[Kind] === 'Union') return schema.anyOf.some((part: TSchema) => isLike(part, value))
  if (schema[Kind] === 'Literal') return schema.const === value
  switch (schema.type) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isFields(value)
    case 'integer':
      return typeof value === 'number'
    case 'null':
      return value === null
    case undefined:
      return true
    default:
      return typeof value === schema.type
  }
}
