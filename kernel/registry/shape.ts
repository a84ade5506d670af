import type { TSchema } from '@sinclair/typebox'
import { ValueErrorType } from '@sinclair/typebox/errors'
import { Value } from '@sinclair/typebox/value'
import type { Fields } from '../config/fields.ts'
import { type ExtensionPoint, formatPath } from '../plugin/index.ts'

/** Why a value does not match a shape; undefined if it does. */
export function shapeFault(shape: TSchema, value: unknown): string | undefined {
  if (Value.Check(shape, value)) return undefined
  for (const { type, path, schema, value: part } of Value.Errors(shape, value)) {
    // TypeBox looks for required members in own properties only; inherited ones count here.
    if (type === ValueErrorType.ObjectRequiredProperty) continue
    const steps = path.split('/').slice(1)
    const place = formatPath(steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step)))
    return `${place || 'it'} must be ${expected(schema)}, got ${shown(part)}`
  }
  return 'a member is missing'
}

/** Why a value is not an implementation of a point; undefined if it is. */
export function implementationFault<T>(point: ExtensionPoint<T>, value: T): string | undefined {
  const { name, what, key, shape } = point
  const fault = (shape && shapeFault(shape, value)) ?? point.fault?.(value)
  if (fault === undefined) return undefined
  const named = key === undefined ? undefined : (value as Fields | undefined)?.[key]
  return typeof named === 'string' && what !== undefined
    ? `the ${what} "${named}": ${fault}`
    : `${name}: ${fault}`
}

const words: Readonly<Record<string, string>> = {
  Function: 'a function',
  array: 'a list',
  boolean: 'true or false',
  object: 'an object',
  string: 'a string',
}

function expected({ description, type, const: constant }: TSchema): string {
  return description ?? words[String(type)] ?? JSON.stringify(constant) ?? 'something else'
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'a list'
  if (value instanceof Promise) return 'a promise'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'bigint' || typeof value === 'symbol'
    ? String(value)
    : JSON.stringify(value)
}
