import { shownPrice } from './_shared/money.ts'
import { type Hours, rowsIn, type SnapshotFile, tokenUnits, type Unit } from './_shared/sheet.ts'
import type { ModelRate, PriceSheet } from './catalog.ts'
import disagreements from './disagreements.json' with { type: 'json' }

const TOKENS: ReadonlySet<Unit> = new Set(tokenUnits)
const LABEL = 30
const COLUMN = 11

/** What the bundled list says of a model beside its prices. */
export function* shownOrigin(
  { date, sources, providers }: SnapshotFile,
  provider: string,
  model: string,
): Iterable<string> {
  const models = providers[provider] ?? {}
  const rows = rowsIn(models, model)
  if (rows.length === 0) return
  const lists = [...new Set(rows.flatMap(({ by = [] }) => by))]
  const named = lists.map((list) => [list, sources[list]].filter(Boolean).join(' '))
  yield `  from ${named.join(', ')}; as of ${date}`
  const names = Object.keys(models).filter((name) => rowsIn(models, name) === rows)
  const others = names.filter((name) => name !== model)
  if (others.length > 0) yield `  also known as ${others.join(', ')}`
  for (const { prices, taken, why, ...of } of disagreements) {
    if (of.provider !== provider || !names.includes(of.model)) continue
    yield `  the lists disagree on ${Object.keys(prices).join(', ')}; taken is ${taken}: ${why}`
  }
}

/** A table of the prices: units by tiers. */
export function* shownRate(rate: ModelRate): Iterable<string> {
  const { usual, tiers, hours, from, until } = rate
  const days = [from && `from ${from}`, until && `until the day before ${until}`].filter(Boolean)
  if (days.length > 0) yield `  ${days.join(', ')}`
  const columns = [['usual', usual] as const, ...tiers]
  yield* table('USD per million tokens', columns, (unit) => TOKENS.has(unit))
  yield* table('USD per thousand', columns, (unit) => !TOKENS.has(unit))
  for (const each of hours) yield `  ${shownHours(each)}`
}

type Columns = readonly (readonly [string, PriceSheet])[]

function* table(title: string, columns: Columns, is: (unit: Unit) => boolean): Iterable<string> {
  const lines: string[] = []
  const units = new Set(columns.flatMap(([, { prices }]) => [...prices.keys()].filter(is)))
  const priced = columns.filter(([, { prices }]) => [...units].some((unit) => prices.has(unit)))
  for (const unit of units) {
    lines.push(
      line(
        unit,
        priced.map(([, { prices }]) => shown(unit, prices.get(unit))),
      ),
    )
    const lengths = new Set(
      priced.flatMap(([, { long }]) =>
        long.filter(({ prices }) => prices.has(unit)).map(({ above }) => above),
      ),
    )
    for (const length of [...lengths].sort((a, b) => a - b)) {
      const cells = priced.map(([, { prices, long }]) =>
        shown(
          unit,
          long.find(({ above }) => above === length)?.prices.get(unit) ?? prices.get(unit),
        ),
      )
      lines.push(line(`  prompts above ${length}`, cells))
    }
  }
  if (lines.length > 0)
    yield line(
      title,
      priced.map(([name]) => name),
    )
  for (const each of lines) yield `  ${each}`.trimEnd()
}

function line(label: string, cells: readonly string[]): string {
  return `  ${label.padEnd(LABEL)}${cells.map((cell) => cell.padStart(COLUMN)).join('')}`
}

function shown(unit: Unit, pico: bigint | undefined): string {
  return pico === undefined ? '-' : shownPrice(unit, pico)
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function shownHours({ tier, utc, weekdays, except = [] }: Hours): string {
  const days =
    weekdays === undefined ? '' : ` on ${weekdays.map((day) => WEEKDAYS[day - 1]).join(' ')}`
  const not = except.length === 0 ? '' : `, but not on ${except.join(', ')}`
  return `${tier} is at ${utc.join(', ')} UTC${days}${not}`
}
