import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Field, Select } from '@/ui/field.tsx'
import { IssuedKey } from '@/ui/issued-key.tsx'

const graces = [
  ['0', 'Immediately'],
  ['3600', 'In 1 hour'],
  ['86400', 'In 1 day'],
  ['604800', 'In 7 days'],
  ['2592000', 'In 30 days'],
] as const

export interface RotateKeyProps {
  readonly name: string
  /** Gives the key a new secret and returns it. */
  readonly rotate: (graceSecs: number) => Promise<{ readonly api_key: string }>
  readonly onDone: () => void
}

/** A new secret for a key, and how long the old one stays valid. */
export function RotateKey({ name, rotate, onDone }: RotateKeyProps) {
  const [open, setOpen] = useState(false)
  const change = useMutation({
    mutationFn: rotate,
    onSuccess() {
      setOpen(false)
      onDone()
    },
  })
  return (
    <>
      <Button
        size="sm"
        onClick={() => {
          change.reset()
          setOpen(true)
        }}
      >
        Rotate
      </Button>
      <RotateDialog name={name} open={open} onClose={() => setOpen(false)} change={change} />
      <IssuedKey name={name} value={change.data?.api_key} onClose={() => change.reset()} />
    </>
  )
}

interface RotateDialogProps {
  readonly name: string
  readonly open: boolean
  readonly onClose: () => void
  readonly change: UseMutationResult<unknown, Error, number>
}

function RotateDialog({ name, open, onClose, change }: RotateDialogProps) {
  const [grace, setGrace] = useState('86400')
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Rotate API key “${name}”?`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={change.isPending}
            onClick={() => change.mutate(Number(grace))}
          >
            Rotate
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <p>
          The key gets a new secret, which is shown once. Its grants, expiry and owner do not
          change. If an older secret from an earlier rotation is still valid, it expires
          immediately.
        </p>
        <Field label="Current secret expires">
          {(control) => (
            <Select
              {...control}
              className="w-48"
              value={grace}
              onChange={({ target }) => setGrace(target.value)}
            >
              {graces.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {change.error !== null && <ErrorPanel error={change.error} />}
      </div>
    </Dialog>
  )
}
