import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, take } from '@/api/client.ts'
import { sessionQuery } from '@/lib/session.ts'
import { Button } from '@/ui/button.tsx'
import { Card } from '@/ui/card.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Field, Input } from '@/ui/field.tsx'
import { Page } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'

const SHORTEST = 12
const nothing = { current: '', next: '', again: '' }

const fields = [
  { name: 'current', label: 'Current password', autoComplete: 'current-password' },
  { name: 'next', label: 'New password', autoComplete: 'new-password' },
  { name: 'again', label: 'Confirm new password', autoComplete: 'new-password' },
] as const

/** The user's account, with a form that changes the password. */
export default function Account() {
  const { data: user } = useQuery(sessionQuery)
  const [values, setValues] = useState(nothing)
  const problems = {
    current: undefined,
    next:
      values.next !== '' && values.next.length < SHORTEST
        ? `At least ${SHORTEST} characters`
        : undefined,
    again:
      values.again !== '' && values.again !== values.next
        ? 'The passwords do not match'
        : undefined,
  }
  const change = useMutation({
    mutationFn: () =>
      take(
        api.POST('/api/v1/auth/password', {
          body: { current_password: values.current, new_password: values.next },
        }),
      ),
    onSuccess() {
      setValues(nothing)
      toast('Password changed. Your other sessions have been signed out.')
    },
  })
  const ready =
    values.current !== '' && values.next.length >= SHORTEST && values.again === values.next
  function submit(event: FormEvent) {
    event.preventDefault()
    if (ready) change.mutate()
  }
  return (
    <Page title="Account" note={user ? `${user.name} · ${user.email}` : undefined}>
      <Card title="Change password" className="max-w-md">
        <form onSubmit={submit} className="grid gap-3">
          {change.error !== null && <ErrorPanel error={change.error} />}
          {fields.map(({ name, label, autoComplete }) => (
            <Field key={name} label={label} problem={problems[name]}>
              {(control) => (
                <Input
                  {...control}
                  type="password"
                  name={name}
                  autoComplete={autoComplete}
                  value={values[name]}
                  onChange={(event) => setValues({ ...values, [name]: event.target.value })}
                />
              )}
            </Field>
          ))}
          <p className="text-xs text-muted">
            Signs you out on all other devices. This session stays signed in.
          </p>
          <div>
            <Button type="submit" kind="primary" disabled={!ready || change.isPending}>
              Change password
            </Button>
          </div>
        </form>
      </Card>
    </Page>
  )
}
