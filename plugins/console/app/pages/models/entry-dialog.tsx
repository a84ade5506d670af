import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId } from 'react'
import { ApiError, type FieldProblem } from '@/api/client.ts'
import { type Changed, invalidateConfig, type Preview, useManaged } from '@/lib/managed.ts'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'

export interface EntryDialogProps {
  readonly title: string
  readonly action: string
  readonly done: string
  readonly preview: Preview
  /** The fields of the form; problems of other fields are listed below it. */
  readonly fields: readonly string[]
  readonly save: () => Promise<unknown>
  readonly onSaved: () => void
  readonly onClose: () => void
  /** Renders the form, with the problems of its fields. */
  readonly children: (problems: readonly FieldProblem[]) => ReactNode
}

/** A dialog for a new entry of the managed file, with a preview and validation. */
export function EntryDialog(props: EntryDialogProps) {
  const { title, action, done, preview, fields, save, onSaved, onClose, children } = props
  const id = useId()
  const { data: managed } = useManaged()
  const saving = useMutation({
    mutationFn: save,
    async onSuccess() {
      toast(done)
      await invalidateConfig()
      onSaved()
    },
  })
  const { changed, error } = preview
  const problems = changed?.problems ?? (error instanceof ApiError ? error.problems : [])
  const rest = problems.filter(({ field }) => !fields.includes(field ?? ''))
  const isWrong = error !== undefined || (changed?.problems.some(isError) ?? true)
  function submit(event: FormEvent) {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      className="w-[min(44rem,calc(100vw-2rem))]"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={id}
            kind="primary"
            disabled={saving.isPending || isWrong || managed?.writable !== true}
          >
            {action}
          </Button>
        </>
      }
    >
      <form id={id} className="grid gap-3" onSubmit={submit}>
        {children(problems)}
        {rest.length > 0 && (
          <ul className="grid gap-1 text-bad" aria-label="Problems">
            {rest.map(({ field, message, hint }) => (
              <li key={`${field} ${message}`}>
                {field ? <code className="font-mono">{field}</code> : 'Other fields of the config'}:{' '}
                {message}
                {hint ? ` — ${hint}` : ''}
              </li>
            ))}
          </ul>
        )}
        {error !== undefined && problems.length === 0 && <ErrorPanel error={error} />}
        {managed !== undefined && !managed.writable && (
          <Notice tone="warn" title="The managed file is read-only">
            {managed.unwritable_because}. Copy the YAML into your config file and reload the
            gateway.
          </Notice>
        )}
        {changed !== undefined && <Fragment changed={changed} />}
        {saving.error !== null && <ErrorPanel error={saving.error} />}
      </form>
    </Dialog>
  )
}

const isError = ({ severity }: Changed['problems'][number]) => severity === 'error'

function Fragment({ changed: { file, yaml } }: { changed: Changed }) {
  return (
    <figure className="grid gap-1">
      <figcaption className="flex flex-wrap items-center gap-1 text-xs text-muted">
        <span className="min-w-0">
          Will be added to <code className="font-mono break-all">{file}</code>
        </span>
        <CopyButton text={yaml} label="Copy YAML" />
      </figcaption>
      <pre className="overflow-x-auto rounded-md bg-raised p-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
        {yaml}
      </pre>
    </figure>
  )
}
