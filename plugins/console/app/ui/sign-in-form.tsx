import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, take } from '@/api/client.ts'
import type { User } from '@/lib/session.ts'
import { Button } from '@/ui/button.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Field, Input } from '@/ui/field.tsx'

export interface SignInFormProps {
  /** The only user who can sign in here; default: any user. */
  readonly only?: string
  readonly onSignedIn: (user: User) => void
}

/** E-mail and password. */
export function SignInForm({ only, onSignedIn }: SignInFormProps) {
  const [email, setEmail] = useState(only ?? '')
  const [password, setPassword] = useState('')
  const login = useMutation({
    mutationFn: () => take(api.POST('/api/v1/auth/login', { body: { email, password } })),
    onSuccess: ({ user }) => onSignedIn(user),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    login.mutate()
  }
  return (
    <form className="grid gap-4" onSubmit={submit}>
      {login.error !== null && <ErrorPanel error={login.error} />}
      <Field label="E-mail">
        {(control) => (
          <Input
            {...control}
            type="email"
            name="email"
            autoComplete="username"
            required
            readOnly={only !== undefined}
            autoFocus={only === undefined}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label="Password">
        {(control) => (
          <Input
            {...control}
            type="password"
            name="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" kind="primary" disabled={login.isPending}>
        {login.isPending ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  )
}
