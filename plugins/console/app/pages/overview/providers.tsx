import { count, duration, NOT_KNOWN, percent, shareOf } from '@/lib/format.ts'
import { LastError, State } from '@/pages/models/health.tsx'
import type { Overview } from '@/pages/overview/totals.tsx'
import { Card } from '@/ui/card.tsx'
import { EmptyState } from '@/ui/notice.tsx'
import { Table, Td, Th, Tr } from '@/ui/table.tsx'

/** The health of the providers in the last 15 minutes. */
export function Providers({ overview: { recent_attempts } }: { overview: Overview }) {
  return (
    <Card title="Providers" note="last 15 minutes" padded={false}>
      {recent_attempts.items.length === 0 ? (
        <EmptyState title="No attempts in the last 15 minutes">
          The error rate and latency of a provider appear here after its first request.
        </EmptyState>
      ) : (
        <Table aria-label="Providers in the last 15 minutes">
          <thead>
            <tr>
              <Th>Provider</Th>
              <Th>Model</Th>
              <Th>State</Th>
              <Th className="text-right">Attempts</Th>
              <Th className="text-right">Errors</Th>
              <Th className="text-right">First byte p50</Th>
              <Th className="text-right">Latency p50</Th>
              <Th className="text-right">Latency p95</Th>
              <Th>Last error</Th>
            </tr>
          </thead>
          <tbody>
            {recent_attempts.items.map((item) => (
              <Tr key={`${item.provider_key} ${item.model_key}`}>
                <Td className="max-w-56 truncate font-medium">{item.provider_key}</Td>
                <Td className="max-w-56 truncate">{item.model_key ?? NOT_KNOWN}</Td>
                <Td>
                  <State share={shareOf(item.error_count, item.attempt_count)} />
                </Td>
                <Td className="text-right">{count(item.attempt_count)}</Td>
                <Td className="text-right">
                  {count(item.error_count)}{' '}
                  <span className="text-muted">
                    {percent(shareOf(item.error_count, item.attempt_count))}
                  </span>
                </Td>
                <Td className="text-right">{duration(item.first_byte_p50_ms)}</Td>
                <Td className="text-right">{duration(item.latency_p50_ms)}</Td>
                <Td className="text-right">{duration(item.latency_p95_ms)}</Td>
                <LastError item={item} />
              </Tr>
            ))}
          </tbody>
        </Table>
      )}
    </Card>
  )
}
