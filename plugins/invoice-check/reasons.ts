import { usd } from '../_shared/money.ts'
import { absolute, ONE } from './amounts.ts'
import type { Booked } from './cells.ts'
import type { Gap } from './gap.ts'
import type { Billed } from './invoice.ts'
import type { Bucket } from './line.ts'

/** A likely reason for a difference, with advice. */
export interface Reason {
  readonly code: string
  readonly why: string
  readonly advice: string
}

const count = (n: bigint, one: string, more = `${one}s`) => `${n} ${n === 1n ? one : more}`

export function pastGateway(requests: bigint | undefined): Reason {
  const calls = requests === undefined ? 'calls' : count(requests, 'call')
  return {
    code: 'past_gateway',
    why: `${calls} did not go through the gateway, but used another key of the same account`,
    advice: "find the key in the vendor's console, and revoke keys that are not needed",
  }
}

export function rejected(why: string, rows: bigint, cost: bigint): Reason {
  const words =
    why === 'duplicate_race'
      ? 'with a request id that was used twice at the same time'
      : 'over a hard budget'
  return {
    code: why,
    why: `${count(rows, 'charge')} ${words} are recorded as rejected: ${usd(cost)} USD`,
    advice: `list them: GET /api/v1/admin/spend/rejected-charges?reason=${why}`,
  }
}

export function usageMissing(rows: bigint): Reason {
  return {
    code: 'usage_missing',
    why: `the replies to ${count(rows, 'call')} had no usage, so the ledger has no tokens for them`,
    advice: 'make the route request usage: compatibility.generic_compat.supports_stream_usage',
  }
}

export function otherName(names: readonly string[]): Reason {
  return {
    code: 'other_name',
    why: `the ledger may have it under another name: ${names.join(', ')}`,
    advice: 'if it is one of these, pass --model-map "NAME IN THE FILE=NAME IN THE LEDGER"',
  }
}

export function dayNotClosed(): Reason {
  return {
    code: 'day_not_closed',
    why: 'the vendor may not have closed the day yet',
    advice: 'export the file again tomorrow',
  }
}

export function dayNotInFile(): Reason {
  return {
    code: 'day_not_in_file',
    why: 'the file has no usage of any model on this day',
    advice: 'export all days, or compare only the days of the file with --from and --to',
  }
}

export function otherAccount(): Reason {
  return {
    code: 'other_account',
    why: 'the provider uses a key of a different account, project or workspace than the file',
    advice: 'export the file for all accounts, or check the key of the provider in the config',
  }
}

export function notBilled(): Reason {
  return {
    code: 'not_billed',
    why: 'calls failed or were aborted, and the vendor does not bill them',
    advice: 'compare with the failed calls of the day in the request log',
  }
}

export function estimated(rows: bigint): Reason {
  return {
    code: 'estimated',
    why: `${count(rows, 'row')} of the ledger are estimates, for example streams whose callers disconnected`,
    advice: 'raise accounting.abort_drain_secs, so that more streams report their usage',
  }
}

export function unpriced(rows: bigint, why: ReadonlySet<string>): Reason {
  return {
    code: 'unpriced',
    why: `the ledger has ${count(rows, 'row')} without a price: ${[...why].toSorted().join(', ')}`,
    advice: 'set the rate in pricing.overrides, or pricing_provider_id of the provider',
  }
}

export function dayShift(days: number): Reason {
  return {
    code: 'day_boundary',
    why: `the sums over the ${days} days are equal, but the usage is on different days. The ledger uses the UTC day on which a call was sent`,
    advice: 'no action is needed if the sums are right',
  }
}

export function withoutTokens(): Reason {
  return {
    code: 'no_tokens_in_file',
    why: 'the file has no token counts, so the price and the count cannot be compared separately',
    advice: 'add the usage file of the vendor as another --file',
  }
}

/** A charge for something other than tokens. */
export function fee(label: string): Reason {
  const kind = [
    [/search|ground/i, 'searches and other tools of the vendor'],
    [/stor|vector|cach/i, 'storage'],
    [/train|tun|custom/i, 'training'],
    [/provision|reserved|commit|throughput|units?\b/i, 'reserved capacity'],
    [/guardrail/i, 'guardrails'],
  ].find(([pattern]) => (pattern as RegExp).test(label))?.[1]
  return {
    code: 'fee',
    why: `the charge is for ${kind ?? 'something other than tokens'}, which the ledger does not record`,
    advice: 'book it outside the ledger; the calls are correct',
  }
}

/** Reasons for different counts of the same usage. */
export function countReasons(gaps: ReadonlyMap<Bucket, bigint>, booked: Booked): readonly Reason[] {
  const found: Reason[] = []
  const gap = (bucket: Bucket) => gaps.get(bucket) ?? 0n
  const inputs = (['input', 'cache_read', 'cache_write'] as const).map(gap)
  const { cache_read, cache_write } = booked.tokens
  const input = inputs.reduce((sum, each) => sum + each, 0n) + gap('prompt')
  const cached = [cache_read, cache_write, cache_read + cache_write].map((tokens) => tokens * ONE)
  const movesCached = input === 0n && inputs.some((each) => each !== 0n)
  if (movesCached || (input !== 0n && cached.includes(absolute(input)))) {
    found.push({
      code: 'cached_counted_otherwise',
      why: movesCached
        ? 'the total input is equal, but the cached part of it differs'
        : 'the input differs by exactly the cached tokens: only one side includes them in the input',
      advice: 'compare the usage of one call in the request log with what the vendor shows',
    })
  }
  if (booked.reasoning > 0n && absolute(gap('output')) === booked.reasoning * ONE) {
    found.push({
      code: 'reasoning_counted_otherwise',
      why: 'the output differs by exactly the reasoning tokens: only one side includes them in the output',
      advice: 'compare the usage of one call in the request log with what the vendor shows',
    })
  }
  return found
}

const factors = [
  { parts: 2n, of: 1n, code: 'half_price', words: 'exactly half: the batch or flex tier' },
  {
    parts: 1n,
    of: 2n,
    code: 'double_price',
    words: 'exactly twice: a priority tier, or long context',
  },
  { parts: 10n, of: 11n, code: 'regional_price', words: 'exactly 10 % more: a regional endpoint' },
]

/** Reasons for different costs of the same tokens. */
export function priceReasons(billed: Billed, booked: Booked, gap: Gap): readonly Reason[] {
  const found: Reason[] = []
  const charged = billed.cost ?? 0n
  const byTier = otherTier(billed)
  if (byTier !== undefined) found.push(byTier)
  const factor = factors.find(
    ({ parts, of }) => absolute(charged * parts - booked.cost * of) <= gap.slack.cost * parts,
  )
  if (factor !== undefined) {
    found.push({
      code: factor.code,
      why: `the vendor charged ${factor.words}`,
      advice: 'check the service tier of the calls; the ledger uses the standard tier',
    })
  }
  if (booked.rates.size > 1) {
    found.push({
      code: 'rate_changed',
      why: `the ledger used ${booked.rates.size} rates in this period: prices or the config changed`,
      advice: 'compare the day of the change with the day on which the vendor changed prices',
    })
  }
  if (booked.estimated > 0n) found.push(estimated(booked.estimated))
  found.push(
    charged < booked.cost
      ? {
          code: 'discount',
          why: 'the account has a discount, or the price list of the gateway is out of date',
          advice: 'set the rate of the account in pricing.overrides, or update the gateway',
        }
      : {
          code: 'price_list',
          why: 'the price list of the gateway is out of date, or some of the calls had a higher price',
          advice: 'update the gateway, or set the rate in pricing.overrides',
        },
  )
  return found
}

/** The invoice states tiers, but the ledger sums do not; a comparison of tiers would go here. */
function otherTier({ tiers }: Billed): Reason | undefined {
  if (tiers.size === 0) return undefined
  return {
    code: 'other_tier',
    why: `the file has charges for ${[...tiers].toSorted().join('; ')}`,
    advice: 'set the rate of that tier in pricing.overrides, if all calls of the route use it',
  }
}
