import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { api, errorOf } from '@/api/client.ts'
import { bytes, count, counted } from '@/lib/format.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Field, Input } from '@/ui/field.tsx'

const DAY_MS = 86_400_000
const USUAL_DAYS = 30
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

type OwnerKind = 'all' | 'user' | 'service_account'

const whose = {
  own: 'Your charges.',
  all: 'All owners.',
  user: 'Users only.',
  service_account: 'Service accounts only.',
}

interface Exported {
  readonly name: string
  readonly rows: number
  readonly size: number
  readonly unpriced: number
  readonly usageMissing: number
}

/**
 * Exports the charges of a date range as a FOCUS file; without `kind`, those of the signed-in user.
 */
export function Export({ ownerKind }: { ownerKind?: OwnerKind }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Download aria-hidden />
        FOCUS export
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title="FOCUS export"
        description="Charges as CSV, one row per day, owner, upstream model and pricing status."
      >
        <Form {...(ownerKind && { ownerKind })} />
      </Dialog>
    </>
  )
}

function Form({ ownerKind }: { ownerKind?: OwnerKind }) {
  const [start, setStart] = useState(() => dayAgo(USUAL_DAYS))
  const [end, setEnd] = useState(() => dayAgo(1))
  const download = useMutation({
    mutationFn: () => fetchFocus({ start, end }, ownerKind),
  })
  const done = download.data
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        download.mutate()
      }}
    >
      <div className="flex flex-wrap items-end gap-3">
        <Field label="First day (UTC)">
          {(control) => (
            <Input
              {...control}
              type="date"
              required
              className="w-40"
              value={start}
              max={end}
              onChange={({ target }) => setStart(target.value)}
            />
          )}
        </Field>
        <Field label="Last day (UTC)">
          {(control) => (
            <Input
              {...control}
              type="date"
              required
              className="w-40"
              value={end}
              onChange={({ target }) => setEnd(target.value)}
            />
          )}
        </Field>
        <Button type="submit" kind="primary" disabled={download.isPending}>
          <Download aria-hidden />
          {download.isPending ? 'Preparing…' : 'Download CSV'}
        </Button>
        <span className="pb-1.5 text-xs text-muted">
          At most 90 days. {whose[ownerKind ?? 'own']}
        </span>
      </div>
      {download.error !== null && <ErrorPanel error={download.error} />}
      {done !== undefined && (
        <p role="status">
          <span className="font-medium">{done.name}</span>: {counted(done.rows, 'row')},{' '}
          {bytes(done.size)}.{' '}
          <span className="text-muted">
            {counted(done.unpriced, 'request')} unpriced requests and {count(done.usageMissing)}{' '}
            requests without usage are not included.
          </span>
        </p>
      )}
    </form>
  )
}

async function fetchFocus(
  range: { readonly start: string; readonly end: string },
  owner_kind: OwnerKind | undefined,
): Promise<Exported> {
  const { data, error, response } =
    owner_kind === undefined
      ? await api.GET('/api/v1/me/spend/focus.csv', { params: { query: range }, parseAs: 'text' })
      : await api.GET('/api/v1/admin/spend/focus.csv', {
          params: { query: { ...range, owner_kind } },
          parseAs: 'text',
        })
  if (data === undefined) throw errorOf(error, response)
  const text: string = data
  const name =
    /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'focus.csv'
  const file = new Blob([text], { type: 'text/csv' })
  save(file, name)
  const excluded = (what: string) =>
    Number(response.headers.get(`x-focus-excluded-${what}-requests`) ?? 0)
  return {
    name,
    // Every line ends with a newline, and the header is not a row.
    rows: Math.max(0, text.split('\r\n').length - 2),
    size: file.size,
    unpriced: excluded('unpriced'),
    usageMissing: excluded('usage-missing'),
  }
}

function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // Revoke later, because the browser reads the URL after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
