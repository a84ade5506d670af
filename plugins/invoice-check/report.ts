import { usd } from '../_shared/money.ts'
import { ONE, wholeTokens } from './amounts.ts'
import type { Booked, Cell } from './cells.ts'
import type { Comparison, Difference, Kind } from './compare.ts'
import type { Billed, Invoice } from './invoice.ts'
import type { Bucket, Day, Period } from './line.ts'

/** USD per million tokens by bucket, from the current price list. */
export interface RateShown {
  readonly id: string
  /** Whether the price list still has this rate for these days; undefined if unknown. */
  readonly isCurrent: boolean | undefined
  /** USD per million tokens, or per thousand pieces. */
  readonly prices: Readonly<Record<string, string>>
}

export interface ReportParts {
  readonly providers: readonly string[]
  readonly period: Period
  readonly invoice: Invoice
  readonly comparison: Comparison
  readonly cells: readonly Cell[]
  readonly ratesOf: (difference: Difference) => readonly RateShown[]
}

const headings: Readonly<Record<Kind, string>> = {
  not_in_ledger: 'In the invoice, not in the ledger',
  not_in_invoice: 'In the ledger, not in the invoice',
  tokens_differ: 'Tokens differ',
  price_differs: 'Same tokens, different price',
  cost_differs: 'Costs differ',
  unpriced: 'Unpriced in the ledger',
  day_shift: 'On a different day',
  fee: 'Charges other than tokens',
}

const bucketWords: Readonly<Record<Bucket, string>> = {
  prompt: 'all input',
  input: 'input',
  cache_read: 'cache read',
  cache_write: 'cache write',
  output: 'output',
}

/** The report as text, line by line. */
export function* reportLines(parts: ReportParts): Iterable<string> {
  const { providers, period, invoice, comparison, cells } = parts
  for (const { path, format, rows, passedOver, hasMore } of invoice.files) {
    const others = passedOver === 0 ? '' : `, ${passedOver} of other services`
    yield `file      ${clean(path)}: ${format.id}, ${rows} rows${others}`
    if (format.note !== undefined) yield `          ${format.note}`
    if (hasMore) yield '          incomplete: the last page refers to another page'
  }
  yield `ledger    ${providers.map(clean).join(', ')}, ${spanOf(period)}`
  const { billed, booked } = totalsOf(cells)
  yield `invoice   ${tokensText(billed.tokens)}${costText(billed.cost)}`
  yield `ledger    ${tokensText(booked.tokens)}${costText(booked.cost)}`
  const { differences, compared, rounded } = comparison
  const within =
    rounded === 0 ? '' : `; ${rounded} within the tolerance or the rounding of the file`
  yield `compared  ${compared} by day and model: ${differences.length} differences${within}`
  let kind: Kind | undefined
  for (const difference of differences) {
    if (difference.kind !== kind) {
      kind = difference.kind
      yield ''
      yield headings[kind]
    }
    yield* differenceLines(difference, parts)
  }
  if (invoice.apart.length > 0) {
    yield ''
    yield 'Not compared: taxes, credits and discounts, which the ledger does not record'
    for (const { label, period: days, cost } of invoice.apart) {
      yield `  ${spanOf(days)}  ${clean(label)}: ${usd(cost)} USD`
    }
  }
}

function* differenceLines(difference: Difference, { ratesOf }: ReportParts): Iterable<string> {
  const { cell, period, subject, cost, gap, reasons, kind } = difference
  yield `  ${spanOf(period)}  ${clean(subject)}`
  if (cell === undefined) {
    yield `    invoice  ${usd(cost ?? 0n)} USD`
  } else {
    if (kind === 'day_shift') yield `    of ${dayText(cell.period.start)}:`
    yield `    invoice  ${sideText(billedSide(cell.billed))}`
    yield `    ledger   ${sideText(bookedSide(cell.booked))}`
    const gaps = [...(gap?.tokens ?? [])].map(
      ([bucket, tokens]) => `${signed(wholeTokens(tokens))} ${bucketWords[bucket]}`,
    )
    if (cost !== undefined) gaps.push(`${cost > 0n ? '+' : ''}${usd(cost)} USD`)
    yield `    gap      ${gaps.join(', ')}`
  }
  if (kind === 'price_differs' || kind === 'cost_differs') {
    for (const rate of ratesOf(difference)) yield `    rate     ${rateText(rate)}`
    const charged = perMillion(cell?.billed)
    if (charged.length > 0) {
      yield `    charged  ${charged.map(([bucket, price]) => `${bucketWords[bucket]} ${price}`).join(', ')} USD per million`
    }
  }
  for (const [index, { why, advice }] of reasons.entries()) {
    yield `    ${index === 0 ? 'likely  ' : 'or      '} ${clean(why)}`
    yield `             ${clean(advice)}`
  }
}

function rateText({ id, isCurrent, prices: rates }: RateShown): string {
  const prices = Object.entries(rates).map(([name, price]) => `${name} ${price}`)
  const shown = prices.length === 0 ? '' : `: ${prices.join(', ')} USD per million`
  return `${id}${isCurrent === false ? ' (no longer in force)' : shown}`
}

/** The vendor's charge per million tokens of each bucket. */
function perMillion(billed: Billed | undefined): readonly (readonly [Bucket, string])[] {
  if (billed === undefined || billed.tokensMissing) return []
  return [...billed.costs].flatMap(([bucket, cost]) => {
    const tokens = billed.tokens.get(bucket) ?? 0n
    return tokens > 0n ? [[bucket, usd((cost * 1_000_000n * ONE) / tokens)] as const] : []
  })
}

/** One side of a difference, in whole tokens. */
interface Side {
  readonly requests: bigint | undefined
  readonly tokens: readonly (readonly [Bucket, bigint])[] | undefined
  readonly cost: bigint | undefined
}

function billedSide(billed: Billed | undefined): Side | undefined {
  if (billed === undefined) return undefined
  const tokens = [...billed.tokens].map(([bucket, n]) => [bucket, wholeTokens(n)] as const)
  return {
    requests: billed.requests,
    tokens: billed.tokensMissing ? undefined : tokens,
    cost: billed.cost,
  }
}

function bookedSide(booked: Booked | undefined): Side | undefined {
  if (booked === undefined) return undefined
  const tokens = Object.entries(booked.tokens) as [Bucket, bigint][]
  return { requests: booked.rows, tokens, cost: booked.cost }
}

function sideText(side: Side | undefined): string {
  if (side === undefined) return 'nothing'
  const { requests, tokens, cost } = side
  const counts = tokens
    ?.filter(([, n]) => n !== 0n)
    .map(([bucket, n]) => `${n} ${bucketWords[bucket]}`)
  return [
    ...(requests === undefined ? [] : [requests === 1n ? '1 call' : `${requests} calls`]),
    ...(counts === undefined ? [] : counts.length === 0 ? ['no tokens'] : counts),
    ...(cost === undefined ? [] : [`${usd(cost)} USD`]),
  ].join(', ')
}

interface Total {
  tokens: bigint | undefined
  cost: bigint | undefined
}

function totalsOf(cells: readonly Cell[]): { readonly billed: Total; readonly booked: Total } {
  const billed: Total = { tokens: 0n, cost: undefined }
  const booked = { tokens: 0n, cost: 0n }
  for (const cell of cells) {
    for (const n of Object.values(cell.booked?.tokens ?? {})) booked.tokens += n
    booked.cost += cell.booked?.cost ?? 0n
    if (cell.billed === undefined) continue
    const { tokens, tokensMissing, cost } = cell.billed
    if (tokensMissing) billed.tokens = undefined
    else if (billed.tokens !== undefined) {
      for (const n of tokens.values()) billed.tokens += wholeTokens(n)
    }
    if (cost !== undefined) billed.cost = (billed.cost ?? 0n) + cost
  }
  return { billed, booked }
}

const tokensText = (tokens: bigint | undefined) =>
  tokens === undefined ? 'unknown tokens' : `${tokens} tokens`
const costText = (cost: bigint | undefined) => (cost === undefined ? '' : `, ${usd(cost)} USD`)
const signed = (n: bigint) => (n > 0n ? `+${n}` : `${n}`)

/** `2026-03-01`, or `2026-03-01 to 2026-03-31`. */
export function spanOf({ start, end }: Period): string {
  return end - start === 1 ? dayText(start) : `${dayText(start)} to ${dayText(end - 1)}`
}

export function dayText(day: Day): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10)
}

/** Text of a file, made safe for a terminal. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, ' ')
}

/** The report as JSON, with money as decimal strings in USD. */
export function reportJson(parts: ReportParts): string {
  const { providers, period, invoice, comparison, cells, ratesOf } = parts
  const totals = totalsOf(cells)
  return JSON.stringify(
    {
      providers,
      from: dayText(period.start),
      to: dayText(period.end - 1),
      files: invoice.files.map(({ path, format, rows, passedOver, hasMore }) => ({
        path,
        format: format.id,
        rows,
        rows_passed_over: passedOver,
        has_more: hasMore,
      })),
      compared: comparison.compared,
      within_rounding: comparison.rounded,
      totals: { invoice: totalJson(totals.billed), ledger: totalJson(totals.booked) },
      differences: comparison.differences.map((difference) => ({
        kind: difference.kind,
        from: dayText(difference.period.start),
        to: dayText(difference.period.end - 1),
        subject: difference.subject,
        names: difference.cell?.names ?? null,
        invoice: sideJson(billedSide(difference.cell?.billed)),
        ledger: sideJson(bookedSide(difference.cell?.booked)),
        invoice_minus_ledger: {
          tokens: Object.fromEntries(
            [...(difference.gap?.tokens ?? [])].map(([bucket, n]) => [
              bucket,
              Number(wholeTokens(n)),
            ]),
          ),
          cost_usd: moneyJson(difference.cost),
        },
        rates: ratesOf(difference).map(({ id, isCurrent, prices }) => ({
          id,
          is_current: isCurrent ?? null,
          prices,
        })),
        charged_usd_per_million: Object.fromEntries(perMillion(difference.cell?.billed)),
        reasons: difference.reasons,
      })),
      not_compared: invoice.apart.map(({ label, period: days, cost }) => ({
        label,
        from: dayText(days.start),
        to: dayText(days.end - 1),
        cost_usd: usd(cost),
      })),
    },
    null,
    2,
  )
}

function sideJson(side: Side | undefined) {
  if (side === undefined) return null
  return {
    requests: side.requests === undefined ? null : Number(side.requests),
    tokens:
      side.tokens === undefined
        ? null
        : Object.fromEntries(side.tokens.map(([bucket, n]) => [bucket, Number(n)])),
    cost_usd: moneyJson(side.cost),
  }
}

const totalJson = ({ tokens, cost }: Total) => ({
  tokens: tokens === undefined ? null : Number(tokens),
  cost_usd: moneyJson(cost),
})
const moneyJson = (cost: bigint | undefined) => (cost === undefined ? null : usd(cost))
