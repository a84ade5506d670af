import { Kind, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import {
  type ConfigPath,
  KEY_ALIASES,
  type Problem,
  SECRET_KEYWORD,
  Secret,
} from '../plugin/index.ts'
import { deepFreeze } from '../plugin/json.ts'
import {
  type Description,
  describeError,
  expectation,
  noMap,
  notAmong,
  wrongType,
} from './describe.ts'
import { type Fields, isFields, matchKeys } from './fields.ts'
import { type Environment, resolveSecret } from './secrets.ts'
import { constantsOf, discriminatorOf, isLike, ruleProblems, schemaFor } from './variants.ts'

type At = readonly [path: ConfigPath, use: Shaping]

/** Options for `shape`: where secrets come from and where problems go. */
export interface Shaping {
  readonly env: Environment
  report(problem: Problem): void
  /** Whether to fill absent fields with the defaults of their schemas. */
  readonly fill: boolean
  /** For values that lost parts: the original key or index of each part that moved. */
  readonly origins: WeakMap<object, ReadonlyMap<string | number, string | number>>
}

/** Schema keyword: the value is checked but kept as written, without defaults. */
export const AS_WRITTEN = 'x-as-written'

/** Keyword of an object schema: returns the hint for an unknown key that resembles no known key. */
export const UNKNOWN_KEY_HINT = 'x-unknown-key-hint'

/**
 * Checks `value` against `schema`: refuses unknown keys, fills in defaults, replaces secret
 * references by Secrets and freezes the result. Parts that do not fit are reported and removed, so
 * that the rest can be checked further. Returns undefined if nothing remains.
 */
export function shape(schema: TSchema, value: unknown, path: ConfigPath, use: Shaping): unknown {
  const chosen = schemaFor(schema, value)
  if (chosen !== schema) return shape(chosen, value, path, use)
  const result = shapeKind(schema, value, path, use)
  if (result === undefined) return undefined
  for (const problem of ruleProblems(schema, result, value)) {
    use.report({ ...problem, path: [...path, ...originalPath(result, problem.path, use)] })
  }
  return result
}

function shapeKind(schema: TSchema, value: unknown, path: ConfigPath, use: Shaping): unknown {
  if (schema[SECRET_KEYWORD] === true) return shapeSecret(value, path, use)
  if (schema[AS_WRITTEN] === true && use.fill) {
    return shapeKind(schema, value, path, { ...use, fill: false })
  }
  switch (schema[Kind]) {
    case 'Object':
      return shapeObject(schema as TObject, value, path, use)
    case 'Intersect':
      return shape(merged(schema.allOf), value, path, use)
    case 'Record':
      return shapeRecord(schema, value, path, use)
    case 'Array':
      return shapeArray(schema, value, path, use)
    case 'Union':
      return shapeUnion(schema.anyOf, value, path, use)
    case 'Unknown':
    case 'Any':
      return deepFreeze(value)
    default:
      return fits(schema, value, path, use) ? value : undefined
  }
}

/** Merges the parts of an intersection into one object schema; a union gives one per variant. */
function merged(parts: readonly TSchema[]): TSchema {
  const union = parts.find((part) => part[Kind] === 'Union')
  if (union === undefined) return Type.Composite([...parts] as TObject[])
  const others = parts.filter((part) => part !== union)
  return Type.Union(union.anyOf.map((variant: TSchema) => merged([...others, variant])))
}

function describe(use: Shaping, path: ConfigPath, description: Description): undefined {
  use.report({ path, ...description })
}

/** Checks a whole value and reports the first error. */
function fits(schema: TSchema, value: unknown, path: ConfigPath, use: Shaping): boolean {
  try {
    const error = Value.Errors(schema, value).First()
    if (error === undefined) return true
    describe(use, path, describeError(error))
  } catch {
    const message = `cannot be checked: schemas of kind ${schema[Kind]} are not supported here`
    use.report({ path, message })
  }
  return false
}

function shapeSecret(value: unknown, path: ConfigPath, use: Shaping): Secret | undefined {
  const result = resolveSecret(value, use.env)
  return result instanceof Secret ? result : describe(use, path, result)
}

function shapeObject(schema: TObject, value: unknown, path: ConfigPath, use: Shaping) {
  if (!isFields(value)) return describe(use, path, noMap(schema, value))
  const aliases: Readonly<Record<string, string>> = schema[KEY_ALIASES] ?? {}
  const known = [...Object.keys(schema.properties), ...Object.keys(aliases)]
  const rest: TSchema | boolean = schema.additionalProperties ?? false
  const { written, unknown } =
    rest === false
      ? matchKeys(value, known)
      : {
          written: new Map(known.filter((k) => Object.hasOwn(value, k)).map((k) => [k, k])),
          unknown: [],
        }
  for (const { key, meant } of unknown) {
    const keys = known.length === 0 ? 'no keys are known here' : `known keys: ${known.join(', ')}`
    const hint =
      meant === undefined ? (schema[UNKNOWN_KEY_HINT]?.(key) ?? keys) : `did you mean "${meant}"?`
    use.report({ path: [...path, key], message: 'is an unknown key', hint })
  }
  for (const [alias, name] of Object.entries(aliases)) {
    const key = written.get(alias)
    if (key === undefined) continue
    if (written.has(name)) {
      const hint = `keep one of ${name} and ${alias}`
      use.report({ path: [...path, key], message: `is another name for ${name}`, hint })
    } else written.set(name, key)
  }
  const result: Record<string, unknown> = {}
  const moved = new Map<string, string>()
  for (const [name, property] of Object.entries(schema.properties)) {
    const key = written.get(name)
    if (key !== undefined) {
      // A refused part stays as undefined, so that checks can see that something was written.
      result[name] = shape(property, value[key], [...path, key], use)
      if (key !== name) moved.set(name, key)
    } else if ('default' in property) {
      if (!use.fill) continue
      const part = shape(property, structuredClone(property.default), [...path, name], use)
      if (part !== undefined) result[name] = part
    } else if (schema.required?.includes(name)) {
      use.report({ path: [...path, name], message: 'is required' })
    }
  }
  if (rest !== false) {
    for (const [key, part] of Object.entries(value)) {
      if (known.includes(key)) continue
      const shaped = rest === true ? deepFreeze(part) : shape(rest, part, [...path, key], use)
      if (shaped !== undefined) result[key] = shaped
    }
  }
  checkSize(schema, value, path, use)
  if (moved.size > 0) use.origins.set(result, moved)
  return Object.freeze(result)
}

/** Checks the number of keys of a map. */
function checkSize({ minProperties, maxProperties }: TSchema, value: Fields, ...at: At): void {
  const sizes = Object.entries({ minProperties, maxProperties }).filter(([, size]) => size >= 0)
  if (sizes.length === 0) return
  fits(Type.Record(Type.String(), Type.Unknown(), Object.fromEntries(sizes)), value, ...at)
}

function shapeRecord(schema: TSchema, value: unknown, path: ConfigPath, use: Shaping) {
  if (!isFields(value)) return describe(use, path, wrongType('a map', value))
  const patterns = Object.entries(schema.patternProperties as Record<string, TSchema>)
  const result: Record<string, unknown> = {}
  for (const [key, part] of Object.entries(value)) {
    const entry = patterns.find(([pattern]) => new RegExp(pattern).test(key))?.[1]
    if (entry === undefined) use.report({ path: [...path, key], message: 'is an unknown key' })
    else {
      const shaped = shape(entry, part, [...path, key], use)
      if (shaped !== undefined) result[key] = shaped
    }
  }
  checkSize(schema, value, path, use)
  return Object.freeze(result)
}

function shapeArray(schema: TSchema, value: unknown, path: ConfigPath, use: Shaping) {
  if (!Array.isArray(value)) return describe(use, path, wrongType('a list', value))
  fits({ ...schema, items: Type.Unknown() }, value, path, use)
  const result: unknown[] = []
  const moved = new Map<number, number>()
  for (const [index, item] of value.entries()) {
    const part = shape(schema.items, item, [...path, index], use)
    if (part === undefined) continue
    if (result.length !== index) moved.set(result.length, index)
    result.push(part)
  }
  if (moved.size > 0) use.origins.set(result, moved)
  return Object.freeze(result)
}

function shapeUnion(variants: readonly TSchema[], value: unknown, path: ConfigPath, use: Shaping) {
  const constants = variants.map(constantsOf)
  if (constants.every((list) => list !== undefined)) {
    const words = constants.flat()
    return words.includes(value) ? value : describe(use, path, notAmong(words, value))
  }
  const name = discriminatorOf(variants)
  if (name !== undefined) {
    if (isFields(value)) return shapeDiscriminated(variants, name, value, path, use)
    return describe(use, path, noMap(Type.Object({ [name]: Type.Unknown() }), value))
  }
  const candidates = variants.filter((variant) => isLike(variant, value))
  if (candidates.length === 0) {
    const expected = [...new Set(variants.map(expectation))].join(' or ')
    return describe(use, path, wrongType(expected, value))
  }
  let best: { part: unknown; problems: Problem[] } | undefined
  for (const candidate of candidates) {
    const problems: Problem[] = []
    const part = shape(candidate, value, path, { ...use, report: (p) => problems.push(p) })
    if (best === undefined || problems.length < best.problems.length) best = { part, problems }
  }
  for (const problem of best?.problems ?? []) use.report(problem)
  return best?.part
}

function shapeDiscriminated(
  variants: readonly TSchema[],
  name: string,
  value: Fields,
  path: ConfigPath,
  use: Shaping,
) {
  const keys = [...new Set(variants.flatMap((variant) => Object.keys(variant.properties)))]
  const key = matchKeys(value, keys).written.get(name)
  const words = variants.flatMap((variant) => constantsOf(variant.properties[name]) ?? [])
  const has = (variant: TSchema, word: unknown) =>
    constantsOf(variant.properties[name])?.includes(word) === true
  if (key === undefined) {
    const implied = variants.find((variant) => !variant.required?.includes(name))
    if (implied !== undefined) return shape(implied, value, path, use)
    return describe(use, [...path, name], {
      message: 'is required',
      hint: `one of ${words.join(', ')}`,
    })
  }
  const variant = variants.find((candidate) => has(candidate, value[key]))
  if (variant !== undefined) return shape(variant, value, path, use)
  return describe(use, [...path, key], notAmong(words, value[key]))
}

/** Converts a path in a shaped value to the path in the file. */
export function originalPath(root: unknown, path: ConfigPath, use: Shaping): ConfigPath {
  let node = root
  return path.map((part) => {
    if (typeof node !== 'object' || node === null) return part
    const original = use.origins.get(node)?.get(part) ?? part
    node = (node as Fields)[part]
    return original
  })
}
