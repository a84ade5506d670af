import { Kind, OptionalKind, type TSchema } from '@sinclair/typebox'
import { DecimalString, KEY_ALIASES, SECRET_KEYWORD } from '../kernel/plugin/index.ts'

/** One setting of the config file, as a row of a table. */
export interface Row {
  /**
   * Path of keys with dots. `[]` is each entry of a list, `.NAME` a key of the operator's choice.
   */
  readonly key: string
  readonly type: string
  /** As YAML, or `required`; empty for an optional setting without a default. */
  readonly default: string
  readonly tells: string
}

/** All settings of a schema, below `key`. */
export function rowsOf(key: string, schema: TSchema, required = false): Row[] {
  const inner = partsOf(key, schema)
  const own: Row = {
    key,
    type: typeOf(schema),
    default: defaultOf(schema, required),
    tells: sentence(schema.description),
  }
  if (own.tells !== '' || inner.length === 0) return [own, ...inner]
  // A map without a description has no row, because its keys have rows, unless it is required.
  return required ? [{ ...own, tells: 'Contains the following keys.' }, ...inner] : inner
}

function partsOf(key: string, schema: TSchema): Row[] {
  switch (schema[Kind]) {
    case 'Object':
      return Object.entries(schema.properties as Record<string, TSchema>).flatMap(
        ([name, part]) => [
          ...rowsOf(`${key}.${name}`.replace(/^\./, ''), part, isRequired(part)),
          ...aliasRows(key, schema, name),
        ],
      )
    case 'Array':
      return partsOf(`${key}[]`, schema.items)
    case 'Record':
      return partsOf(`${key}.NAME`, Object.values(schema.patternProperties as object)[0])
    case 'Union':
      return variantsOf(key, schema.anyOf)
    default:
      return []
  }
}

/** The settings of all variants, each once, with the variant that it belongs to. */
function variantsOf(key: string, variants: readonly TSchema[]): Row[] {
  const rows = new Map<string, Row>()
  for (const variant of variants) {
    if (variant[Kind] !== 'Object') continue
    const properties = variant.properties as Record<string, TSchema>
    const [name, by] = Object.entries(properties).find(([, part]) => isWord(part)) ?? []
    for (const row of partsOf(key, variant)) {
      const before = rows.get(row.key)
      if (name !== undefined && by !== undefined && row.key === `${key}.${name}`) {
        const words = [before?.type, row.type].filter((type) => type !== undefined)
        rows.set(row.key, {
          ...row,
          type: words.join(' or '),
          tells: 'Determines the other fields.',
        })
      } else if (before === undefined) {
        const where = by === undefined ? '' : `With \`${name}: ${by.const}\`.`
        rows.set(row.key, { ...row, tells: [row.tells, where].filter(Boolean).join(' ') })
      }
    }
  }
  return [...rows.values()]
}

/** The other names of a key. */
function aliasRows(key: string, schema: TSchema, name: string): Row[] {
  return Object.entries<string>(schema[KEY_ALIASES] ?? {})
    .filter(([, meant]) => meant === name)
    .map(([alias]) => ({
      key: `${key}.${alias}`,
      type: 'map',
      default: '',
      tells: `Another name of \`${name}\`.`,
    }))
}

function isWord(schema: TSchema): boolean {
  return schema[Kind] === 'Literal'
}

function isRequired(schema: TSchema): boolean {
  return !(OptionalKind in schema) && schema.default === undefined
}

const DECIMAL = String(DecimalString().pattern).split('{1,')[0] as string

function typeOf(schema: TSchema): string {
  if (schema[SECRET_KEYWORD] === true) return 'secret'
  switch (schema[Kind]) {
    case 'Literal':
      return `\`${schema.const}\``
    case 'Union':
      return [...new Set((schema.anyOf as TSchema[]).map(typeOf))].join(' or ')
    case 'Array':
      return schema.items[Kind] === 'Object' ? 'list' : `list of ${typeOf(schema.items)}`
    case 'Record':
    case 'Object':
      return 'map'
    case 'Boolean':
      return '`true` or `false`'
    case 'Integer':
      return `whole number${rangeOf(schema)}`
    case 'Number':
      return `number${rangeOf(schema)}`
    case 'String':
      return String(schema.pattern).startsWith(DECIMAL) ? 'decimal in quotes' : 'text'
    default:
      return 'anything'
  }
}

function rangeOf({ minimum, maximum }: TSchema): string {
  const plain = (value: number) => value.toLocaleString('en')
  if (minimum === undefined && maximum === undefined) return ''
  if (minimum === undefined) return ` up to ${plain(maximum)}`
  return ` from ${plain(minimum)}${maximum === undefined ? '' : ` to ${plain(maximum)}`}`
}

function defaultOf(schema: TSchema, required: boolean): string {
  if (required) return 'required'
  const { default: value } = schema
  if (value === undefined) return ''
  const empty = typeof value === 'object' && Object.keys(value as object).length === 0
  return empty ? 'none' : `\`${JSON.stringify(value).replaceAll(/^"|"$/g, '')}\``
}

function sentence(text: unknown): string {
  if (typeof text !== 'string' || text === '') return ''
  const whole = text
    .replace(/^([a-z_]+): /, '`$1`: ')
    .replace(/^[a-z](?!\w*:)/, (letter) => letter.toUpperCase())
  return /[.!?]$/.test(whole) ? whole : `${whole}.`
}

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/_ms$/, 'milliseconds'],
  [/_secs$/, 'seconds'],
  [/_bytes$/, 'bytes'],
  [/_usd_per_million$/, 'USD'],
  [/_usd$/, 'USD'],
]

/** The unit in the last word of a key. */
function unitOf(key: string): string {
  return UNITS.find(([pattern]) => pattern.test(key))?.[1] ?? ''
}

export function tableOf(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [
    line(['Key', 'Type', 'Default', 'Unit', 'Description']),
    line(['---', '---', '---', '---', '---']),
    ...rows.map((row) =>
      line([`\`${row.key}\``, row.type, row.default, unitOf(row.key), row.tells]),
    ),
  ].join('\n')
}
