import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Field, Select } from '@/ui/field.tsx'
import { IssuedKey } from '@/ui/issued-key.tsx'

const graces = [
  ['0', 'At once'],
  ['3600', 'After an hour'],
  ['86400', 'After a day'],
  ['604800', 'After a week'],
  ['2592000', 'After 30 days'],
] as const

export interface RotateKeyProps {
  readonly name: string
  /** Gives the key a new secret and says what it is. */
  readonly rotate: (graceSecs: number) => Promise<{ readonly api_key: string }>
  readonly onDone: () => void
}

/** A new secret for a key, and for how long the old one is taken beside it. */
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
      title={`Rotate the key “${name}”?`}
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
          The key gets a new secret, which is shown once. Its grants, expiry and owner stay. A
          secret from before the last rotation ends at once.
        </p>
        <Field label="The secret of now ends">
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
