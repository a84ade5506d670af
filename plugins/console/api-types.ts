/** The parts of JSON Schema that `openapi.json` uses. */
interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly type?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Operation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Content>>
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

/**
 * Returns the source of `schema.ts`: the types of each operation, as openapi-fetch expects them.
 */
export function schemaSource({ paths, components }: OpenApiDocument): string {
  const schemas = Object.entries(components.schemas).map(([name, s]) => `${name}: ${typeOf(s)}`)
  const entries = Object.entries(paths).map(([path, operations]) => {
    const methods = METHODS.map((method) => {
      const operation = operations[method]
      return operation === undefined ? `${method}?: never` : `${method}: ${operationOf(operation)}`
    })
    const noParameters =
      'parameters: { query?: never; header?: never; path?: never; cookie?: never }'
    return `${key(path)}: { ${[noParameters, ...methods].join('; ')} }`
  })
  return [
    '// Made by `bun run console:api` from openapi.json.',
    `export interface components { schemas: { ${schemas.join('; ')} } }`,
    `export interface paths { ${entries.join('\n')} }`,
  ].join('\n\n')
}

function operationOf({ parameters = [], requestBody, responses }: Operation): string {
  const group = (place: string) => {
    const found = parameters.filter((parameter) => parameter.in === place)
    if (found.length === 0) return `${place}?: never`
    const members = found.map(
      ({ name, required, schema }) => `${key(name)}${required ? '' : '?'}: ${typeOf(schema)}`,
    )
    const optional = found.every(({ required }) => required !== true)
    return `${place}${optional ? '?' : ''}: { ${members.join('; ')} }`
  }
  const answers = Object.entries(responses).map(
    ([status, response]) =>
      `${status}: { headers: { [name: string]: unknown }; content${contentOf(response)} }`,
  )
  const body =
    requestBody === undefined
      ? 'requestBody?: never'
      : `requestBody${requestBody.required ? '' : '?'}: { content${contentOf(requestBody)} }`
  const groups = ['query', 'header', 'path', 'cookie'].map(group).join('; ')
  return `{ parameters: { ${groups} }; ${body}; responses: { ${answers.join('; ')} } }`
}

function contentOf({ content }: Content): string {
  if (content === undefined) return '?: never'
  const types = Object.entries(content).map(
    ([type, { schema }]) => `${key(type.split(';')[0] as string)}: ${typeOf(schema)}`,
  )
  return `: { ${types.join('; ')} }`
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    return `components['schemas'][${JSON.stringify(schema.$ref.split('/').at(-1))}]`
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((v) => JSON.stringify(v)).join(' | ')
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' | ')
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'array':
      return `(${schema.items === undefined ? 'unknown' : typeOf(schema.items)})[]`
    case 'object':
      return objectOf(schema)
    default:
      return 'unknown'
  }
}

function objectOf({ properties = {}, required = [], ...schema }: Schema): string {
  const members = Object.entries(properties).map(
    ([name, value]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(value)}`,
  )
  if (members.length > 0) return `{ ${members.join('; ')} }`
  const [pattern] = Object.values(schema.patternProperties ?? {})
  const { additionalProperties: rest } = schema
  if (pattern !== undefined) return `{ [name: string]: ${typeOf(pattern)} }`
  if (typeof rest === 'object') return `{ [name: string]: ${typeOf(rest)} }`
  return rest === false ? 'Record<string, never>' : '{ [name: string]: unknown }'
}

function key(name: string): string {
  return /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)
}
