import { Badge } from '@/ui/badge.tsx'

/** The HTTP status in the colour of the outcome, because a stream can fail after its 200. */
export function StatusBadge({ status, outcome }: { status: number; outcome: string }) {
  const tone =
    outcome === 'success'
      ? 'good'
      : outcome === 'client_abort'
        ? 'plain'
        : status >= 400 && status < 500
          ? 'warn'
          : 'bad'
  return <Badge tone={tone}>{status}</Badge>
}
