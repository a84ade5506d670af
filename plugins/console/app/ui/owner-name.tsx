import { Bot } from 'lucide-react'
import type { ReactNode } from 'react'

export interface OwnerNameProps {
  readonly kind: 'user' | 'service_account'
  /** The name, or a link with the name. */
  readonly children: ReactNode
}

/** The owner's name, truncated where space is short, with an icon for service accounts. */
export function OwnerName({ kind, children }: OwnerNameProps) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span className="min-w-0 truncate">{children}</span>
      {kind === 'service_account' && (
        <span title="service account" className="shrink-0 text-muted">
          <Bot role="img" aria-label="service account" className="size-3.5" />
        </span>
      )}
    </span>
  )
}
