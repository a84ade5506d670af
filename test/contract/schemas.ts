import { isJsonObject, type JsonObject, Secret, type TSchema } from 'model-gateway/plugin'
import { formatProblems } from '../../kernel/config/problems.ts'
import { type Shaping, shape } from '../../kernel/config/shape.ts'

/**
 * A part of a config as a plugin sees it: checked, defaults filled in, secrets resolved, frozen.
 * Throws what a config check would say.
 */
export function loaded(schema: TSchema, written: unknown, what: string): unknown {
  const problems: Parameters<typeof formatProblems>[0][number][] = []
  const value = shape(schema, written, [what], {
    env: process.env,
    report: (problem) => problems.push(problem),
    fill: true,
    origins: new WeakMap(),
  })
  if (problems.length > 0) throw new Error(formatProblems(problems, 'config'))
  return value
}

/** What is left of a part of a config whose wrongly typed parts are cut out, as a check sees it. */
export function cutDown(schema: TSchema, written: unknown): unknown {
  if (written === undefined) return undefined
  const use: Shaping = { env: process.env, report() {}, fill: false, origins: new WeakMap() }
  return shape(schema, structuredClone(written), [], use)
}

/** Paths of the objects that take keys they do not know, as the config's loader sees them. */
export function openObjects(schema: unknown, path: string): string[] {
  return objectsOf(schema, path, ({ additionalProperties }) => additionalProperties === true)
}

/** As `openObjects`, where a schema is taken by its word: an object that does not say so is open. */
export function looseObjects(schema: unknown, path: string): string[] {
  return objectsOf(
    schema,
    path,
    ({ additionalProperties }) =>
      additionalProperties === undefined || additionalProperties === true,
  )
}

function objectsOf(schema: unknown, path: string, isOpen: (node: JsonObject) => boolean): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const node = schema as JsonObject
  // Without any field of its own it is a map, and takes what it is given on purpose.
  const describesFields =
    node.type === 'object' &&
    isJsonObject(node.properties) &&
    Object.keys(node.properties).length > 0
  const here = describesFields && isOpen(node) ? [path] : []
  return here.concat(
    ...Object.entries(node).map(([name, part]) => objectsOf(part, `${path}/${name}`, isOpen)),
  )
}

/** The values of all secrets in a loaded config. */
export function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return [value.reveal()]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(secretsIn)
}

/** A copy that can be written to; secrets and other instances stay what they are. */
export function thawed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(thawed) as T
  if (typeof value !== 'object' || value === null) return value
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, thawed(part)])) as T
}
