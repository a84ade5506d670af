/** A JSON Schema as the OpenAPI document has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

const IGNORED = new Set(['description', 'default', 'examples', 'errorMessage', 'title', '$id'])
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * What is wrong with a value, each with its path. Stricter than JSON Schema in one thing: a member
 * that an object's schema does not name is wrong unless `additionalProperties` allows it. Throws for
 * a keyword that it does not know, so that nothing goes unchecked.
 */
export function schemaProblems(schema: JsonSchema, value: unknown, path = ''): string[] {
  const problems: string[] = []
  const wrong = (text: string) => problems.push(`${path || '/'}: ${text}`)
  for (const [keyword, expected] of Object.entries(schema)) {
    if (IGNORED.has(keyword)) continue
    const check = keywords[keyword]
    if (check === undefined) throw new Error(`${path}: the keyword ${keyword} is not checked`)
    problems.push(...check(expected as never, { schema, value, path, wrong }))
  }
  return problems
}

interface At {
  readonly schema: JsonSchema
  readonly value: unknown
  readonly path: string
  wrong(text: string): unknown
}

/** Returns problems of parts, and tells its own. */
type Keyword = (expected: never, at: At) => string[]

const none: string[] = []

function own(
  fails: (expected: never, value: never, at: At) => boolean,
  text: string,
  kind: string,
) {
  return (expected: unknown, at: At) => {
    const applies = kind === 'any' || typeof at.value === kind
    if (applies && fails(expected as never, at.value as never, at)) {
      at.wrong(
        `${text} ${JSON.stringify(expected)}, not ${JSON.stringify(at.value)?.slice(0, 100)}`,
      )
    }
    return none
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

const keywords: Readonly<Record<string, Keyword>> = {
  type: own(
    (type: string, value: unknown) =>
      type === 'integer' ? !Number.isInteger(value) : typeOf(value) !== type,
    'must be of type',
    'any',
  ),
  const: own((expected: unknown, value: unknown) => expected !== value, 'must be', 'any'),
  enum: own((list: unknown[], value: unknown) => !list.includes(value), 'must be one of', 'any'),
  minimum: own((least: number, value: number) => value < least, 'must be at least', 'number'),
  maximum: own((most: number, value: number) => value > most, 'must be at most', 'number'),
  minLength: own((n: number, v: string) => v.length < n, 'must have the length', 'string'),
  maxLength: own((n: number, v: string) => v.length > n, 'must at most have the length', 'string'),
  pattern: own((p: string, v: string) => !new RegExp(p).test(v), 'must match', 'string'),
  format(format: string, at) {
    const pattern = { 'date-time': DATE_TIME, uuid: UUID }[format]
    if (pattern === undefined) throw new Error(`the format ${format} is not checked`)
    if (typeof at.value === 'string' && !pattern.test(at.value)) {
      const what = format === 'uuid' ? 'a UUID' : 'an instant in UTC'
      at.wrong(`must be ${what}, not ${at.value}`)
    }
    return none
  },
  minItems: own((n: number, v: unknown[]) => Array.isArray(v) && v.length < n, 'items ≥', 'object'),
  maxItems: own((n: number, v: unknown[]) => Array.isArray(v) && v.length > n, 'items ≤', 'object'),
  items(items: JsonSchema, { value, path }) {
    if (!Array.isArray(value)) return none
    return value.flatMap((item, i) => schemaProblems(items, item, `${path}/${i}`))
  },
  required(names: string[], at) {
    if (typeOf(at.value) !== 'object') return none
    for (const name of names) {
      if (!Object.hasOwn(at.value as object, name)) at.wrong(`has no ${name}`)
    }
    return none
  },
  properties: checkMembers,
  patternProperties: (_: never, at) => (at.schema.properties ? none : checkMembers({}, at)),
  additionalProperties: (_: never, at) =>
    at.schema.properties || at.schema.patternProperties ? none : checkMembers({}, at),
  anyOf: (options: JsonSchema[], at) => checkOptions(options, at, (hits) => hits > 0),
  oneOf: (options: JsonSchema[], at) => checkOptions(options, at, (hits) => hits === 1),
}

function checkMembers(
  properties: Readonly<Record<string, JsonSchema>>,
  { schema, value, path, wrong }: At,
): string[] {
  if (typeOf(value) !== 'object') return none
  const patterns = Object.entries((schema.patternProperties ?? {}) as Record<string, JsonSchema>)
  const others = schema.additionalProperties ?? false
  return Object.entries(value as object).flatMap(([name, member]) => {
    const at = `${path}/${name}`
    const known = Object.hasOwn(properties, name)
      ? properties[name]
      : patterns.find(([pattern]) => new RegExp(pattern).test(name))?.[1]
    if (known !== undefined) return schemaProblems(known, member, at)
    if (others === true) return none
    if (typeof others === 'object' && others !== null) {
      return schemaProblems(others as JsonSchema, member, at)
    }
    wrong(`has the undocumented member ${name}`)
    return none
  })
}

function checkOptions(
  options: readonly JsonSchema[],
  { value, path, wrong }: At,
  enough: (hits: number) => boolean,
): string[] {
  const found = options.map((option) => schemaProblems(option, value, path))
  const hits = found.filter((problems) => problems.length === 0).length
  if (enough(hits)) return none
  // The nearest option says best what is wrong.
  const [nearest = []] = found.toSorted((a, b) => a.length - b.length)
  wrong(`fits ${hits} of ${options.length} options`)
  return nearest
}
