import type { PricingSource } from 'model-gateway/accounting'
import { type Clock, type Command, type CommandSpec, UsageError } from 'model-gateway/plugin'
import { once, readArguments } from '../_shared/arguments.ts'
import { dayOf } from '../_shared/instant.ts'
import { ONE, readAmount } from './amounts.ts'
import { likeNames, matchCells } from './cells.ts'
import { compare, type Difference } from './compare.ts'
import type { Format } from './format.ts'
import { formats } from './formats.ts'
import type { Tolerance } from './gap.ts'
import { readInvoice } from './invoice.ts'
import { type Day, InvoiceError, type Period } from './line.ts'
import { dayText, type RateShown, type ReportParts, reportJson, reportLines } from './report.ts'
import type { LedgerStore } from './store.ts'

const DAY_MS = 86_400_000

export const reconcile: CommandSpec = {
  name: 'reconcile',
  summary: "Compares a vendor's usage or cost file with the ledger, by day and model",
  usage:
    '--provider ID... --file FILE... [--format FORMAT] [--from DAY] [--to DAY] [--model-map FILE=GATEWAY...] [--tolerance USD|PERCENT%] [--json]',
  answers: true,
}

export interface ReconcileParts {
  readonly store: LedgerStore
  /** Provider ids in the config. */
  readonly providers: () => readonly string[]
  readonly prices: () => PricingSource | undefined
  readonly clock: Clock
}

interface Options {
  readonly providers: readonly string[]
  readonly files: readonly string[]
  readonly format: Format | undefined
  readonly from: Day | undefined
  readonly until: Day | undefined
  readonly models: ReadonlyMap<string, string>
  readonly tolerance: Tolerance
  readonly json: boolean
}

/** `gateway reconcile`: exit code 1 when there are differences, 2 when a file or the ledger cannot be read. */
export function reconcileCommand(parts: ReconcileParts): Command {
  return {
    name: reconcile.name,
    async run(args, out) {
      const options = readOptions(args)
      const { store, clock } = parts
      await requireProviders(options.providers, parts)
      const invoice = await readInvoice(options.files, options.format, options).catch(refuse)
      const period = periodOf(invoice.periods, options)
      const ledger = await store.sums(options.providers, period.start, period.end)
      const cells = matchCells(invoice, ledger, options.models)
      const comparison = compare(cells, invoice, {
        tolerance: options.tolerance,
        today: Math.floor(clock.now().getTime() / DAY_MS),
        like: (model) => likeNames(model, ledger),
      })
      const report: ReportParts = {
        providers: options.providers,
        period,
        invoice,
        comparison,
        cells,
        ratesOf: (difference) => ratesOf(difference, parts.prices()),
      }
      if (options.json) out(reportJson(report))
      else for (const line of reportLines(report)) out(line)
      return comparison.differences.length === 0 ? 0 : 1
    },
  }
}

function refuse(error: unknown): never {
  throw error instanceof InvoiceError ? new UsageError(error.message) : error
}

async function requireProviders(
  asked: readonly string[],
  { store, providers }: ReconcileParts,
): Promise<void> {
  const configured = providers()
  if (asked.every((provider) => configured.includes(provider))) return
  const known = new Set([...configured, ...(await store.providers())])
  const unknown = asked.find((provider) => !known.has(provider))
  if (unknown === undefined) return
  throw new UsageError(
    `provider ${unknown} does not exist; the config and the ledger have ${[...known].toSorted().join(', ')}`,
  )
}

/** The requested days, or those of the file. */
function periodOf(periods: readonly Period[], { from, until }: Options): Period {
  const start = from ?? Math.min(...periods.map((period) => period.start))
  const end = until ?? Math.max(...periods.map((period) => period.end))
  if (Number.isFinite(start) && Number.isFinite(end)) return { start, end }
  throw new UsageError('the files contain no days: choose the days with --from and --to')
}

/** The ledger's rates with their prices, if the price list still has them. */
function ratesOf(
  { cell, kind, period }: Difference,
  prices: PricingSource | undefined,
): RateShown[] {
  if (kind !== 'price_differs' && kind !== 'cost_differs') return []
  return [...(cell?.booked?.rates.values() ?? [])].map(({ id, pricingProviderId, model }) => {
    const found = prices?.rates?.({ pricingProviderId, model }, new Date(period.start * DAY_MS))
    const isCurrent = found?.status === 'priced' && found.rateId === id
    return {
      id,
      isCurrent: found === undefined ? undefined : isCurrent,
      prices: isCurrent ? found.usual.prices : {},
    }
  })
}

function readOptions(args: readonly string[]): Options {
  const values = readArguments(
    args,
    ['--provider', '--file', '--format', '--from', '--to', '--model-map', '--tolerance'],
    ['--json'],
  )
  const providers = values.get('--provider') ?? []
  const files = values.get('--file') ?? []
  if (providers.length === 0)
    throw new UsageError('--provider is required: the id of a provider in the config')
  if (files.length === 0) throw new UsageError('--file is required')
  const from = dayOption('--from', once(values, '--from'))
  const to = dayOption('--to', once(values, '--to'))
  if (from !== undefined && to !== undefined && to < from) {
    throw new UsageError(`--to ${dayText(to)} is before --from ${dayText(from)}`)
  }
  return {
    providers,
    files,
    format: formatOption(once(values, '--format')),
    from,
    until: to === undefined ? undefined : to + 1,
    models: new Map((values.get('--model-map') ?? []).map(mapOption)),
    tolerance: toleranceOption(once(values, '--tolerance')),
    json: values.has('--json'),
  }
}

function formatOption(id: string | undefined): Format | undefined {
  const format = formats.find((known) => known.id === id)
  if (id === undefined || format !== undefined) return format
  throw new UsageError(`--format must be one of ${formats.map((known) => known.id).join(', ')}`)
}

function dayOption(option: string, text: string | undefined): Day | undefined {
  if (text === undefined) return undefined
  const day = dayOf(text)
  if (day === undefined)
    throw new UsageError(`${option} must be a day such as 2026-03-31, got ${text}`)
  return day.getTime() / DAY_MS
}

function mapOption(text: string): readonly [file: string, gateway: string] {
  const [, file, gateway] = /^(.+)=(.+)$/.exec(text) ?? []
  if (file !== undefined && gateway !== undefined) return [file.trim(), gateway.trim()]
  throw new UsageError(
    `--model-map must be FILE=GATEWAY, such as "Claude Haiku 4.5=claude-haiku-4-5", got ${text}`,
  )
}

function toleranceOption(text: string | undefined): Tolerance {
  if (text === undefined) return { usd: 0n, percent: 0n }
  const isPercent = text.endsWith('%')
  const amount = readAmount(isPercent ? text.slice(0, -1) : text)
  if (amount === undefined || amount.scaled < 0n || (isPercent && amount.scaled > 100n * ONE)) {
    throw new UsageError(
      `--tolerance must be an amount in USD or a percentage such as 0.5%, got ${text}`,
    )
  }
  return isPercent ? { usd: 0n, percent: amount.scaled } : { usd: amount.scaled, percent: 0n }
}
