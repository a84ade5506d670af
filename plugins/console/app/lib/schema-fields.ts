/** The parts of JSON Schema that forms use. */
export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly const?: unknown
  readonly default?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly 'x-secret'?: boolean
}

/** One field of a form. */
export interface SchemaField {
  /** The path of its value: `auth.token`. */
  readonly path: string
  readonly kind: 'text' | 'number' | 'switch' | 'choice' | 'secret' | 'json'
  readonly required: boolean
  readonly hint: string | undefined
  /** The options of a select. */
  readonly words: readonly string[]
  /** Shown only if another field has this value. */
  readonly only?: { readonly path: string; readonly value: string }
}

type Inherited = Pick<SchemaField, 'required'> & Pick<SchemaField, 'only'>

/** The form fields for the properties of a schema, nested objects included. */
export function fieldsOf(
  { properties = {}, required = [] }: Schema,
  prefix = '',
  inherited: Inherited = { required: true },
): readonly SchemaField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const isRequired = inherited.required && required.includes(name)
    return fieldsAt(path, schema, { ...inherited, required: isRequired })
  })
}

function fieldsAt(path: string, schema: Schema, inherited: Inherited): readonly SchemaField[] {
  const field = (kind: SchemaField['kind'], words: readonly string[] = []): SchemaField => ({
    path,
    kind,
    hint: schema.description,
    words,
    ...inherited,
  })
  if (schema['x-secret'] === true) return [field('secret')]
  const { anyOf } = schema
  if (anyOf?.every((one) => typeof one.const === 'string')) {
    return [
      field(
        'choice',
        anyOf.map((one) => String(one.const)),
      ),
    ]
  }
  const by = anyOf && discriminatorOf(anyOf)
  if (anyOf !== undefined && by !== undefined) return variants(path, schema, anyOf, by, inherited)
  if (schema.properties !== undefined) return fieldsOf(schema, path, inherited)
  if (schema.type === 'string') return [field('text')]
  if (schema.type === 'number' || schema.type === 'integer') return [field('number')]
  if (schema.type === 'boolean') return [field('switch')]
  if (typeof schema.const === 'string') return [field('choice', [schema.const])]
  return [field('json')]
}

/** The property whose constant distinguishes the variants of a union. */
function discriminatorOf(variants: readonly Schema[]): string | undefined {
  const [first] = variants
  return Object.keys(first?.properties ?? {}).find((name) =>
    variants.every(({ properties }) => typeof properties?.[name]?.const === 'string'),
  )
}

function variants(
  path: string,
  { description }: Schema,
  all: readonly Schema[],
  by: string,
  inherited: Inherited,
): readonly SchemaField[] {
  const choice = `${path}.${by}`
  const words = all.map(({ properties }) => String(properties?.[by]?.const))
  return [
    { path: choice, kind: 'choice', hint: description, words, ...inherited },
    ...all.flatMap((schema, index) => {
      const { [by]: _, ...properties } = schema.properties ?? {}
      const only = { path: choice, value: words[index] ?? '' }
      return fieldsOf({ ...schema, properties }, path, { required: true, only })
    }),
  ]
}

/** The input of the form, by path. */
export type Written = Readonly<Record<string, string>>

/** Whether a field is shown. */
export function isShown({ only }: SchemaField, written: Written): boolean {
  return only === undefined || written[only.path] === only.value
}

/** The config entry for the form's input, without empty fields. */
export function entryOf(
  fields: readonly SchemaField[],
  written: Written,
): Readonly<Record<string, unknown>> {
  const entry: Record<string, unknown> = {}
  for (const field of fields) {
    const text = written[field.path] ?? ''
    if (text === '' || !isShown(field, written)) continue
    const parts = field.path.split('.')
    const last = parts.pop() ?? ''
    let map = entry
    for (const part of parts) {
      map[part] ??= {}
      map = map[part] as Record<string, unknown>
    }
    map[last] = read(field, text)
  }
  return entry
}

function read({ kind }: SchemaField, text: string): unknown {
  if (kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  if (kind === 'switch') return text === 'true'
  if (kind !== 'json') return text
  try {
    return JSON.parse(text)
  } catch {
    // Not valid for the schema: send it as typed, and the gateway reports the error.
    return text
  }
}
