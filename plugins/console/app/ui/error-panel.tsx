import { CircleAlert } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { ApiError } from '@/api/client.ts'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'

/** The gateway's error message, with the request ID to look it up by. */
export function ErrorPanel({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const element = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each refusal of a form is to be seen
  useEffect(() => {
    if (element.current?.closest('form')) element.current.scrollIntoView({ block: 'nearest' })
  }, [error])
  const requestId = error instanceof ApiError ? error.requestId : undefined
  return (
    <div
      ref={element}
      role="alert"
      className="flex items-start gap-2.5 rounded-md border border-bad-strong/40 bg-bad-soft px-3 py-2.5"
    >
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="text-bad">{error.message}</p>
        {requestId !== undefined && (
          <p className="mt-0.5 flex items-center gap-1 text-xs">
            <span>Request</span>
            <code className="font-mono break-all">{requestId}</code>
            <CopyButton text={requestId} label="Copy request ID" />
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button size="sm" onClick={onRetry}>
          Retry
        </Button>
      )}
    </div>
  )
}
