import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Skeleton } from '@/ui/notice.tsx'

/** While a page is on its way. */
export function PagePending() {
  return (
    <div role="status" aria-label="Loading" className="grid gap-4 p-6">
      <Skeleton className="h-6 w-48" />
      <Skeleton className="h-64 w-full" />
    </div>
  )
}

/** In the place of a page that could not be shown. */
export function PageError({ error }: ErrorComponentProps) {
  const router = useRouter()
  return (
    <div className="p-6">
      <ErrorPanel
        error={error instanceof Error ? error : new Error(String(error))}
        // All of it, what comes before the page included: who is signed in.
        onRetry={() => void router.invalidate()}
      />
    </div>
  )
}
