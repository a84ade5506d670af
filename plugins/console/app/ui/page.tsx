import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Skeleton } from '@/ui/notice.tsx'

export interface PageProps {
  readonly title: string
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** The frame of each page, with its heading, which is also the title of the window. */
export function Page({ title, note, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Model gateway`
  }, [title])
  return (
    <div className="mx-auto grid w-full max-w-[100rem] gap-4 p-4 md:p-6">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h1 className="text-lg font-semibold tracking-tight">{title}</h1>
          {note !== undefined && <p className="text-muted">{note}</p>}
        </div>
        {actions !== undefined && (
          <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>
        )}
      </header>
      {children}
    </div>
  )
}

interface Loading<T> {
  readonly data: T | undefined
  readonly error: Error | null
  readonly refetch: () => unknown
}

export interface LoadedProps<T> {
  /** The result of `useGet`. */
  readonly query: Loading<T>
  readonly children: (data: T) => ReactNode
  /** Shown while the data loads. */
  readonly skeleton?: ReactNode
}

/**
 * Shows the data of a query, its error, or a skeleton while it loads. When a refetch fails, the old
 * data stays visible below the error.
 */
export function Loaded<T>({ query, children, skeleton }: LoadedProps<T>) {
  const { data, error, refetch } = query
  return (
    <>
      {error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {data !== undefined
        ? children(data)
        : error === null && (
            <div role="status" aria-label="Loading">
              {skeleton ?? <Skeleton className="h-48 w-full" />}
            </div>
          )}
    </>
  )
}
