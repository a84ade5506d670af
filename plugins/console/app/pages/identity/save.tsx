import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId } from 'react'
import { invalidateIdentity } from '@/pages/identity/words.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { toast } from '@/ui/toast.tsx'

export interface SaveDialogProps<T> {
  readonly title: string
  /** On the button: `Make the team`. */
  readonly action: string
  /** Said when it is done. */
  readonly done: string
  readonly save: () => Promise<T>
  readonly onSaved: (saved: T) => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form about somebody: what it saves is seen everywhere at once. */
export function SaveDialog<T>(props: SaveDialogProps<T>) {
  const { title, action, done, save, onSaved, onClose, children } = props
  const id = useId()
  const saving = useMutation({
    mutationFn: save,
    async onSuccess(saved) {
      toast(done)
      await invalidateIdentity()
      onSaved(saved)
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} kind="primary" disabled={saving.isPending}>
            {action}
          </Button>
        </>
      }
    >
      <form id={id} className="grid gap-3" onSubmit={submit}>
        {children}
        {saving.error !== null && <ErrorPanel error={saving.error} />}
      </form>
    </Dialog>
  )
}
