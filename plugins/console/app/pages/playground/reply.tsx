import { useQuery } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { curlOf } from '@/lib/curl.ts'
import { count, duration } from '@/lib/format.ts'
import { sessionQuery } from '@/lib/session.ts'
import { bodyOf, type Form } from '@/pages/playground/form.ts'
import type { Run } from '@/pages/playground/use-call.ts'
import { Written } from '@/pages/playground/written.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { EmptyState } from '@/ui/notice.tsx'

export interface ReplyProps {
  readonly run: Run | undefined
  readonly form: Form
  /** Adds the reply to the conversation. */
  readonly onContinue: (text: string) => void
}

/** The streamed reply, what the gateway recorded, and the call as a `curl` command. */
export function Reply({ run, form, onContinue }: ReplyProps) {
  const { data: user } = useQuery(sessionQuery)
  const command = curlOf(window.location.origin, form.surface, bodyOf(form))
  return (
    <div className="grid min-w-0 gap-4">
      <Card
        title="Reply"
        actions={run !== undefined && <State run={run} />}
        aria-busy={run?.state === 'running'}
      >
        {run === undefined ? (
          <EmptyState title="No reply yet">
            Paste an API key, choose a model, enter a message and send it.
          </EmptyState>
        ) : (
          <div className="grid gap-3">
            {run.error !== undefined && <Problem run={run} error={run.error} />}
            {run.text !== '' && (
              <p aria-live="polite" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
                {run.text}
              </p>
            )}
            {run.text === '' && run.error === undefined && run.state !== 'running' && (
              <p className="text-muted">
                {run.state === 'stopped'
                  ? 'Stopped before any text arrived.'
                  : 'The reply has no text.'}
              </p>
            )}
            <Times run={run} />
            {run.state !== 'running' && run.last !== undefined && (
              <JsonTree
                name={run.events > 1 ? 'last event' : 'response'}
                value={run.last}
                open={run.text === '' ? 2 : 0}
              />
            )}
            {run.state === 'done' && run.text !== '' && (
              <div>
                <Button size="sm" onClick={() => onContinue(run.text)}>
                  Continue conversation
                </Button>
              </div>
            )}
          </div>
        )}
      </Card>
      {run?.requestId !== undefined && run.state !== 'running' && (
        <Written
          key={run.requestId}
          requestId={run.requestId}
          isAdmin={user?.role === 'platform_admin'}
        />
      )}
      <Card title="cURL" actions={<CopyButton text={command} label="Copy command" />}>
        <pre className="font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
          {command}
        </pre>
      </Card>
    </div>
  )
}

function State({ run: { state, status } }: { run: Run }) {
  return (
    <>
      {status !== undefined && <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>}
      <span role="status">
        <Badge tone={state === 'running' ? 'accent' : 'plain'}>
          {state === 'running' ? 'running' : state}
        </Badge>
      </span>
    </>
  )
}

function Problem({ run, error }: { run: Run; error: NonNullable<Run['error']> }) {
  return (
    <div
      role="alert"
      className="flex items-start gap-2.5 rounded-md border border-bad-strong/40 bg-bad-soft px-3 py-2.5 text-bad"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0">
        <p className="[overflow-wrap:anywhere]">{error.message}</p>
        <p className="text-xs">
          <code className="font-mono">{error.code}</code>
          {run.text !== '' && ', after the text below'}
        </p>
      </div>
    </div>
  )
}

function Times({ run }: { run: Run }) {
  const { firstTextMs, latencyMs, events, requestId } = run
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
      {firstTextMs !== undefined && <span>first token {duration(firstTextMs)}</span>}
      {latencyMs !== undefined && <span>total {duration(latencyMs)}</span>}
      {events > 1 && <span>{count(events)} events</span>}
      {requestId !== undefined && (
        <span className="inline-flex min-w-0 items-center gap-1">
          request <code className="font-mono break-all text-ink">{requestId}</code>
          <CopyButton text={requestId} label="Copy request ID" />
        </span>
      )}
    </p>
  )
}
