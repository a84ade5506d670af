import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Skeleton } from '@/ui/notice.tsx'

/** Shown while a page loads. */
export function PagePending() {
  return (
    <div role="status" aria-label="Loading" className="grid gap-4 p-6">
      <Skeleton className="h-6 w-48" />
      <Skeleton className="h-64 w-full" />
    </div>
  )
}

/** Shown instead of a page that failed to load. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <div className="p-6">
      <ErrorPanel
        error={error instanceof Error ? error : new Error(String(error))}
        // Reload the session, too: it may be what failed.
        onRetry={() => void router.invalidate()}
      />
    </div>
  )
}
