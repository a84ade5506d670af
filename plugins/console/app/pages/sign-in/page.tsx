import { useMutation } from '@tanstack/react-query'
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { api, take } from '@/api/client.ts'
import { signedIn } from '@/lib/session.ts'
import { ConnectionBanner } from '@/shell/connection-banner.tsx'
import { Mark } from '@/shell/sidebar.tsx'
import { Button } from '@/ui/button.tsx'
import { ErrorPanel } from '@/ui/error-panel.tsx'
import { Field, Input } from '@/ui/field.tsx'

/** A page of this console, and nothing of anybody else's. */
function safeTarget(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/'
}

export default function SignIn() {
  const { next, expired } = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const { history, basepath } = useRouter()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  useEffect(() => {
    document.title = 'Sign in · Model gateway'
  }, [])
  const login = useMutation({
    mutationFn: () => take(api.POST('/api/v1/auth/login', { body: { email, password } })),
    async onSuccess({ user }) {
      signedIn(user)
      const target = safeTarget(next)
      if (target === '/') await navigate({ to: '/' })
      else history.push(`${basepath}${target}`)
    },
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    login.mutate()
  }
  return (
    <div className="flex h-full flex-col">
      <ConnectionBanner />
      <main className="grid flex-1 place-items-center p-4">
        <form
          onSubmit={submit}
          className="grid w-full max-w-sm gap-4 rounded-lg border border-line bg-panel p-6"
        >
          <div className="flex items-center gap-3">
            <Mark className="size-8" />
            <div>
              <h1 className="text-lg font-semibold tracking-tight">Sign in</h1>
              <p className="text-muted">Model gateway</p>
            </div>
          </div>
          {expired !== undefined && login.error === null && (
            <p role="status" className="rounded-md bg-accent-soft px-3 py-2 text-accent-text">
              Your session has ended. Sign in to go on where you were.
            </p>
          )}
          {login.error !== null && <ErrorPanel error={login.error} />}
          <Field label="E-mail">
            {(control) => (
              <Input
                {...control}
                type="email"
                name="email"
                autoComplete="username"
                required
                autoFocus
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
          <p className="text-xs text-muted">
            No account yet? An operator makes the first one with{' '}
            <code className="font-mono">gateway admin create --email YOU</code>.
          </p>
        </form>
      </main>
    </div>
  )
}
