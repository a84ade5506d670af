import { WifiOff } from 'lucide-react'
import { connection, retryNow } from '@/lib/connection.ts'
import { Button } from '@/ui/button.tsx'

/** Shown while the gateway does not answer and the console tries to reconnect. */
export function ConnectionBanner() {
  if (connection.use() === 'up') return null
  return (
    <div
      role="alert"
      className="flex items-center gap-2.5 border-b border-line bg-warn-soft px-4 py-2 text-warn"
    >
      <WifiOff aria-hidden className="size-4 shrink-0" />
      <span className="flex-1">Connection lost. This page may be out of date. Reconnecting…</span>
      <Button size="sm" onClick={retryNow}>
        Retry now
      </Button>
    </div>
  )
}
