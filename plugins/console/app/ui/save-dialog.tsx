import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId } from 'react'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { toast } from '@/ui/toast.tsx'

export interface SaveDialogProps<T> {
  readonly title: string
  readonly description?: string | undefined
  /** The label of the submit button: `Create team`. */
  readonly action: string
  /** Whether the form can be saved. Default true. */
  readonly ready?: boolean
  /** The toast after a successful save. */
  readonly done: string
  readonly save: () => Promise<T>
  /** Refetches everything that shows the saved data. */
  readonly invalidate: () => Promise<void>
  readonly onSaved: (saved: T) => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form in a dialog that saves, refetches the data that it changes and shows a toast. */
export function SaveDialog<T>(props: SaveDialogProps<T>) {
  const { title, description, action, ready = true, done, save, children } = props
  const { invalidate, onSaved, onClose } = props
  const id = useId()
  const saving = useMutation({
    mutationFn: save,
    async onSuccess(saved) {
      toast(done)
      await invalidate()
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
      description={description}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={id} kind="primary" disabled={saving.isPending || !ready}>
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
