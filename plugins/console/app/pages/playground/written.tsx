import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { count, duration, NOT_KNOWN, usd, usdExact } from '@/lib/format.ts'
import { pricingNames, pricingTone } from '@/lib/pricing.ts'
import { Badge } from '@/ui/badge.tsx'
import { buttonStyle } from '@/ui/button.tsx'
import { Card, Stat, Stats } from '@/ui/card.tsx'
import { Loaded } from '@/ui/page.tsx'

const LOOK_AGAIN_MS = 400
/** How long to wait: rows are written in batches, and with logging off none is written. */
const LONGEST_MS = 8000

/** What the gateway recorded for the call: its log, cost and guardrail decisions. */
export function Written({ requestId, isAdmin }: { requestId: string; isAdmin: boolean }) {
  if (!isAdmin) {
    return (
      <Card title="Recorded">
        <p className="text-muted">
          Your totals are at{' '}
          <Link to="/me/usage" className="text-accent-text underline">
            My usage
          </Link>
          . An administrator can look up the request by its ID.
        </p>
      </Card>
    )
  }
  return <Log requestId={requestId} />
}

function Log({ requestId }: { requestId: string }) {
  const [began] = useState(() => Date.now())
  const query = useGet(
    '/api/v1/admin/observability/request-logs',
    { query: { request_id: requestId } },
    {
      staleTime: 0,
      refetchInterval: ({ state }) =>
        (state.data?.items.length ?? 0) > 0 || Date.now() - began > LONGEST_MS
          ? false
          : LOOK_AGAIN_MS,
    },
  )
  const log = query.data?.items[0]
  return (
    <Card
      title="Recorded"
      actions={
        log !== undefined && (
          <Link
            to={`/requests/${log.request_log_id}`}
            target="_blank"
            className={buttonStyle({ size: 'sm' })}
          >
            Open request
          </Link>
        )
      }
    >
      <Loaded query={query}>
        {() =>
          log === undefined ? (
            <p className="text-muted" role="status">
              {Date.now() - began > LONGEST_MS
                ? 'This request has no log, because request logging is off for its owner or in the config.'
                : 'Waiting for the request log…'}
            </p>
          ) : (
            <div className="grid gap-3">
              <Stats className="md:grid-cols-4 lg:grid-cols-2 xl:grid-cols-2 2xl:grid-cols-4">
                <Stat
                  label="Cost"
                  value={log.cost_usd === null ? NOT_KNOWN : usd(log.cost_usd)}
                  note={log.cost_usd === null ? undefined : usdExact(log.cost_usd)}
                />
                <Stat label="Input tokens" value={count(log.prompt_tokens)} />
                <Stat label="Output tokens" value={count(log.completion_tokens)} />
                <Stat label="Latency" value={duration(log.latency_ms)} />
              </Stats>
              <p className="flex flex-wrap items-center gap-2">
                <Badge tone={log.outcome === 'success' ? 'good' : 'warn'}>
                  {log.outcome.replaceAll('_', ' ')}
                </Badge>
                {log.pricing_status !== null && (
                  <Badge tone={pricingTone(log.pricing_status)}>
                    {pricingNames[log.pricing_status] ?? log.pricing_status}
                  </Badge>
                )}
                {log.provider_key !== null && (
                  <span>
                    <span className="text-muted">served by </span>
                    {log.provider_key}
                    <span className="text-muted">, </span>
                    {log.upstream_model}
                  </span>
                )}
                <span className="text-muted">
                  {count(log.attempts.length)} {log.attempts.length === 1 ? 'attempt' : 'attempts'}
                </span>
              </p>
              <Decisions requestId={requestId} />
            </div>
          )
        }
      </Loaded>
    </Card>
  )
}

function Decisions({ requestId }: { requestId: string }) {
  const query = useGet('/api/v1/admin/guardrails/decisions', { query: { request_id: requestId } })
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="text-muted">No guardrail decisions.</p>
        ) : (
          <ul className="grid gap-1">
            {items.map((decision) => (
              <li key={decision.decision_id} className="flex flex-wrap items-center gap-2">
                <Badge
                  tone={
                    decision.action === 'deny'
                      ? 'bad'
                      : decision.action === 'allow'
                        ? 'good'
                        : 'warn'
                  }
                >
                  {decision.action}
                </Badge>
                <Link
                  to="/guardrails"
                  search={{ request_id: requestId }}
                  target="_blank"
                  className="text-accent-text hover:underline"
                >
                  {decision.rule_id ?? decision.evaluator}
                </Link>
                <span className="text-muted">
                  {decision.phase.replaceAll('_', ' ')}, {decision.reason_code}
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}
