import type { Data } from '@/api/query.ts'
import { count, duration, percent, shareOf, short, usd, usdExact } from '@/lib/format.ts'
import { Stat, Stats } from '@/ui/card.tsx'

export type Overview = Data<'/api/v1/admin/overview'>

export function Totals({ overview: { totals } }: { overview: Overview }) {
  const errors = shareOf(totals.error_count, totals.request_count)
  return (
    <Stats>
      <Stat
        label="Requests"
        value={count(totals.request_count)}
        note={`${count(totals.ledger_count)} in the ledger`}
      />
      <Stat
        label="Spend"
        value={usd(totals.spend_usd)}
        exact={usdExact(totals.spend_usd)}
        note={
          totals.rejected_spend_usd === '0'
            ? 'nothing rejected'
            : `${usd(totals.rejected_spend_usd)} rejected`
        }
      />
      <Stat
        label="Tokens"
        value={short(totals.total_tokens)}
        exact={count(totals.total_tokens)}
        note={`${short(totals.prompt_tokens)} in, ${short(totals.completion_tokens)} out`}
      />
      <Stat
        label="Errors"
        value={count(totals.error_count)}
        tone={errors >= 0.05 ? 'bad' : 'plain'}
        note={`${percent(errors)} of requests`}
      />
      <Stat label="Latency p50" value={duration(totals.latency_p50_ms)} note="median" />
      <Stat label="Latency p95" value={duration(totals.latency_p95_ms)} note="95th percentile" />
    </Stats>
  )
}
