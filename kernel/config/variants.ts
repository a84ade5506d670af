import { Kind, type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Problem } from '../plugin/index.ts'
import { isFields } from './fields.ts'
import type { Pruned } from './rules.ts'

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

const RULE = Symbol('rule')

/**
 * What only code can tell of a value whose form is right: gets it as it was shaped and as the file has
 * it. Paths begin at the value.
 */
type Rule<T> = (value: T, written: unknown) => Iterable<Problem>

/** A schema that asks for more than its form. */
export function withRule<S extends TSchema>(schema: S, rule: Rule<Pruned<Static<S>>>): S {
  return { ...schema, [RULE]: rule }
}

/** What the rule of a schema finds. */
export function ruleProblems(schema: TSchema, value: unknown, written: unknown): Iterable<Problem> {
  const rule = schema[RULE as unknown as string] as Rule<unknown> | undefined
  return rule?.(value, written) ?? []
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
