import { type Data, useGet } from '@/api/query.ts'
import { bytes, count } from '@/lib/format.ts'
import { Card } from '@/ui/card.tsx'
import { Loaded } from '@/ui/page.tsx'

type Policy = Data<'/api/v1/admin/observability/request-log-policy'>

const modes: Readonly<Record<Policy['capture_mode'], string>> = {
  disabled: 'Requests are not logged.',
  summary_only: 'A summary of each request with tags and attempts, without payloads.',
  redacted_payloads: 'A summary of each request, with payloads. Secrets are redacted.',
}

/** The policy of the request log, read-only: it is set in the config file. */
export function LogPolicy() {
  const query = useGet('/api/v1/admin/observability/request-log-policy', {})
  return (
    <Card
      title="Request log policy"
      note="Read-only. Edit request_logging in the config file to change it"
    >
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
    ['Recorded', modes[policy.capture_mode]],
    [
      'Limits',
      `${bytes(policy.request_max_bytes)} per request, ${bytes(policy.response_max_bytes)} per response, ${count(policy.stream_max_events)} events per stream`,
    ],
    [
      'Also redacted',
      policy.redaction_paths.length === 0 ? 'nothing' : policy.redaction_paths.join(', '),
    ],
    [
      'Retention',
      enabled
        ? `${retention.replace('d', ' days').replace(/^1 days/, '1 day')}, purged at ${schedule} (cron, UTC)`
        : 'unlimited. To delete logs, run gateway purge-request-logs',
    ],
  ]
}
