import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'

export interface IssuedKeyProps {
  /** The whole key; undefined: nothing to show. */
  readonly value: string | undefined
  readonly name: string
  readonly onClose: () => void
}

/** A new key, or the new secret of a key. It is shown only here. */
export function IssuedKey({ value, name, onClose }: IssuedKeyProps) {
  return (
    <Dialog
      open={value !== undefined}
      onClose={onClose}
      title={`API key “${name}”`}
      footer={
        <Button kind="primary" onClick={onClose}>
          I have saved this key
        </Button>
      }
    >
      {value !== undefined && (
        <div className="grid gap-3">
          <Notice tone="warn" title="This key is shown only once">
            Copy it now and keep it secret: the gateway stores only a hash, and anyone who has the
            key can spend in the name of its owner.
          </Notice>
          <p className="flex items-center gap-2 rounded-md border border-line bg-raised px-3 py-2">
            <code data-testid="issued-key" className="min-w-0 flex-1 font-mono break-all">
              {value}
            </code>
            <CopyButton text={value} label="Copy key" />
          </p>
          <p className="text-muted">
            Clients send it as <code className="font-mono">Authorization: Bearer</code> or{' '}
            <code className="font-mono">x-api-key</code>.
          </p>
        </div>
      )}
    </Dialog>
  )
}
