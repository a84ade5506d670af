import { type Data, useGet } from '@/api/query.ts'
import { bytes, count } from '@/lib/format.ts'
import { Card } from '@/ui/card.tsx'
import { Loaded } from '@/ui/page.tsx'

type Policy = Data<'/api/v1/admin/observability/request-log-policy'>

const modes: Readonly<Record<Policy['capture_mode'], string>> = {
  disabled: 'Nothing is logged.',
  summary_only: 'A summary of each request, with its tags and attempts; no payloads.',
  redacted_payloads: 'A summary of each request, and its payloads without secrets.',
}

/** What the request log keeps. Shown here, set in the config file. */
export function LogPolicy() {
  const query = useGet('/api/v1/admin/observability/request-log-policy', {})
  return (
    <Card title="Request log policy" note="request_logging in the config file">
      <Loaded query={query}>
        {(policy) => (
          <dl className="grid gap-x-8 gap-y-1 md:grid-cols-[10rem_1fr]">
            {factsOf(policy).map(([label, value]) => (
              <div key={label} className="contents">
                <dt className="text-muted">{label}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        )}
      </Loaded>
    </Card>
  )
}

function factsOf(policy: Policy): readonly (readonly [string, string])[] {
  const { retention, enabled, schedule } = policy.purge
  return [
    ['Kept', modes[policy.capture_mode]],
    [
      'At most',
      `${bytes(policy.request_max_bytes)} of a request, ${bytes(policy.response_max_bytes)} of a response, ${count(policy.stream_max_events)} events of a stream`,
    ],
    [
      'Left out besides',
      policy.redaction_paths.length === 0 ? 'nothing' : policy.redaction_paths.join(', '),
    ],
    [
      'Deleted',
      enabled
        ? `after ${retention.replace('d', ' days').replace(/^1 days/, '1 day')}, at ${schedule} (cron, UTC)`
        : 'not by itself: gateway purge-request-logs does it',
    ],
  ]
}
