import { Kind, type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Problem } from '../plugin/index.ts'
import { isFields } from './fields.ts'
import type { Pruned } from './rules.ts'

const CHOICE = Symbol('choice')

/** A schema that depends on the value, for example on its `type` field. */
export function chosenBy<T>(choose: (value: unknown) => TSchema) {
  return Type.Unsafe<T>({ [CHOICE]: choose })
}

/** The schema for a value; schemas that do not depend on the value are returned unchanged. */
export function schemaFor(schema: TSchema, value: unknown): TSchema {
  const choose: unknown = schema[CHOICE as unknown as string]
  return typeof choose === 'function' ? choose(value) : schema
}

const RULE = Symbol('rule')

/**
 * A check that a schema cannot express. It receives the value after shaping and as written. Paths
 * are relative to the value.
 */
type Rule<T> = (value: T, written: unknown) => Iterable<Problem>

/** Adds a rule to a schema. */
export function withRule<S extends TSchema>(schema: S, rule: Rule<Pruned<Static<S>>>): S {
  return { ...schema, [RULE]: rule }
}

/** Runs the rule of a schema. */
export function ruleProblems(schema: TSchema, value: unknown, written: unknown): Iterable<Problem> {
  const rule = schema[RULE as unknown as string] as Rule<unknown> | undefined
  return rule?.(value, written) ?? []
}

/** The constants of a schema that consists of nothing else; otherwise undefined. */
export function constantsOf(schema: TSchema | undefined): readonly unknown[] | undefined {
  if (schema?.[Kind] === 'Literal') return [schema.const]
  if (schema?.[Kind] !== 'Union') return undefined
  const parts = (schema.anyOf as TSchema[]).map(constantsOf)
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined
}

/** The property whose constants distinguish the variants, such as `mode`. */
export function discriminatorOf(variants: readonly TSchema[]): string | undefined {
  const [first] = variants
  if (first === undefined || !variants.every((variant) => variant[Kind] === 'Object')) return
  return Object.keys(first.properties).find((name) =>
    variants.every((variant) => constantsOf(variant.properties[name]) !== undefined),
  )
}

/** Whether the value has the JSON type of the schema. */
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
