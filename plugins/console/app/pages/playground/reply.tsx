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
  /** Makes the reply a turn of the conversation. */
  readonly onContinue: (text: string) => void
}

/** The reply as it comes, what the gateway wrote down of it, and the call as a command. */
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
          <EmptyState title="Nothing sent yet">
            Paste a key, choose a model, write a message and send it. The reply appears here as it
            comes.
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
                  ? 'Stopped before any text came.'
                  : 'The reply has no text.'}
              </p>
            )}
            <Times run={run} />
            {run.state !== 'running' && run.last !== undefined && (
              <JsonTree
                name={run.events > 1 ? 'last event' : 'answer'}
                value={run.last}
                open={run.text === '' ? 2 : 0}
              />
            )}
            {run.state === 'done' && run.text !== '' && (
              <div>
                <Button size="sm" onClick={() => onContinue(run.text)}>
                  Continue the conversation
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
      <Card title="As curl" actions={<CopyButton text={command} label="Copy the command" />}>
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
          {state === 'running' ? 'under way' : state}
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
      {firstTextMs !== undefined && <span>first text after {duration(firstTextMs)}</span>}
      {latencyMs !== undefined && <span>all after {duration(latencyMs)}</span>}
      {events > 1 && <span>{count(events)} events</span>}
      {requestId !== undefined && (
        <span className="inline-flex min-w-0 items-center gap-1">
          request <code className="font-mono break-all text-ink">{requestId}</code>
          <CopyButton text={requestId} label="Copy the request id" />
        </span>
      )}
    </p>
  )
}
