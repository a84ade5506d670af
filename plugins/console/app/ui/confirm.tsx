import type { ReactNode } from 'react'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'

export interface ConfirmProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
  /** A question: `Revoke API key "laptop"?` */
  readonly title: string
  /** What the action does, and whether it can be undone. */
  readonly consequence: ReactNode
  /** The verb on the button: `Revoke`. */
  readonly action: string
  readonly busy?: boolean
  readonly error?: Error | null
}

/** Asks for confirmation before an action that is hard to undo. */
export function Confirm(props: ConfirmProps) {
  const { open, onClose, onConfirm, title, consequence, action, busy = false, error } = props
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" disabled={busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <div>{consequence}</div>
        {error && <ErrorPanel error={error} />}
      </div>
    </Dialog>
  )
}
