import { Link } from '@tanstack/react-router'
import { Terminal } from 'lucide-react'
import { useState } from 'react'
import { useGet } from '@/api/query.ts'
import { dateTime } from '@/lib/format.ts'
import { Attempts } from '@/pages/requests/attempts.tsx'
import { commandOf } from '@/pages/requests/command.ts'
import { Facts } from '@/pages/requests/facts.tsx'
import { Money } from '@/pages/requests/money.tsx'
import { Payloads } from '@/pages/requests/payloads.tsx'
import type { RequestDetail } from '@/pages/requests/query.ts'
import { Related } from '@/pages/requests/related.tsx'
import { StatusBadge } from '@/pages/requests/status-badge.tsx'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Sheet } from '@/ui/dialog.tsx'
import { Skeleton } from '@/ui/notice.tsx'
import { Loaded } from '@/ui/page.tsx'
import { Section } from '@/ui/section.tsx'

const path = '/api/v1/admin/observability/request-logs/{request_log_id}'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** One request with all its data, at its own URL. */
export function Detail({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  return (
    <Sheet
      open={id !== undefined}
      onClose={onClose}
      title="Request"
      className="w-[min(60rem,100vw)]"
      description={
        id !== undefined && !UUID.test(id) ? 'This is not a valid request ID.' : undefined
      }
    >
      {id !== undefined && UUID.test(id) && <Body id={id} />}
    </Sheet>
  )
}

function Body({ id }: { id: string }) {
  const query = useGet(path, { path: { request_log_id: id } }, { staleTime: 60_000 })
  return (
    <Loaded query={query} skeleton={<Skeleton className="h-96" />}>
      {(log) => (
        <div className="grid gap-5">
          <Headline log={log} />
          <Facts log={log} />
          <Section title="Attempts">
            <Attempts log={log} />
          </Section>
          <Section title="Tokens and cost">
            <Money log={log} />
          </Section>
          <Related log={log} />
          <Payloads log={log} />
        </div>
      )}
    </Loaded>
  )
}

function Headline({ log }: { log: RequestDetail }) {
  const [shown, setShown] = useState(false)
  const command = commandOf(log, window.location.origin)
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <StatusBadge status={log.status_code} outcome={log.outcome} />
        <span className="font-medium">{log.outcome.replaceAll('_', ' ')}</span>
        <span className="text-muted">{dateTime(log.occurred_at)}</span>
        <span className="ml-auto flex items-center gap-1">
          <code className="font-mono text-xs break-all">{log.request_id}</code>
          <CopyButton text={log.request_id} label="Copy request ID" />
          <Link
            to="/requests"
            search={{ request_id: log.request_id }}
            className="text-xs whitespace-nowrap text-accent-text hover:underline"
          >
            Requests with this ID
          </Link>
          <Button
            size="sm"
            aria-expanded={shown}
            disabled={command === undefined}
            onClick={() => setShown(!shown)}
          >
            <Terminal aria-hidden />
            cURL
          </Button>
        </span>
      </div>
      {log.error_code !== null && (
        <p className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          <code className="font-mono">{log.error_code}</code>
          {log.error_message !== null && `: ${log.error_message}`}
        </p>
      )}
      {shown && command !== undefined && (
        <div className="grid gap-1">
          {command.incomplete && (
            <p className="text-xs text-warn">
              Parts of this request were redacted or truncated, so the command is incomplete.
            </p>
          )}
          <div className="flex items-start gap-1 rounded-md bg-raised p-2">
            <pre className="min-w-0 flex-1 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
              {command.text}
            </pre>
            <CopyButton text={command.text} label="Copy command" />
          </div>
        </div>
      )}
      {log.payload === null && (
        <p className="text-xs text-muted">
          No payload recorded.{' '}
          {log.payload_policy?.capture_mode === 'summary_only'
            ? 'The config records summaries only.'
            : 'A cURL command is not available.'}
        </p>
      )}
    </div>
  )
}
