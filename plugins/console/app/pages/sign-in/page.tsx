import { useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { signedIn, type User } from '@/lib/session.ts'
import { ConnectionBanner } from '@/shell/connection-banner.tsx'
import { Mark } from '@/shell/sidebar.tsx'
import { SignInForm } from '@/ui/sign-in-form.tsx'

/** The path in `next` if it is a page of this console; links to other sites are ignored. */
function safeTarget(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/'
}

export default function SignIn() {
  const { next, expired } = useSearch({ strict: false }) as Readonly<Record<string, string>>
  const navigate = useNavigate()
  const { history, basepath } = useRouter()
  useEffect(() => {
    document.title = 'Sign in · Model gateway'
  }, [])
  function enter(user: User) {
    signedIn(user)
    const target = safeTarget(next)
    if (target === '/') void navigate({ to: '/', replace: true })
    else history.replace(`${basepath}${target}`)
  }
  return (
    <div className="flex h-full flex-col">
      <ConnectionBanner />
      <main className="grid flex-1 place-items-center p-4">
        <div className="grid w-full max-w-sm gap-4 rounded-lg border border-line bg-panel p-6">
          <div className="flex items-center gap-3">
            <Mark className="size-8" />
            <div>
              <h1 className="text-lg font-semibold tracking-tight">Sign in</h1>
              <p className="text-muted">Model gateway</p>
            </div>
          </div>
          {expired !== undefined && (
            <p role="status" className="rounded-md bg-accent-soft px-3 py-2 text-accent-text">
              Your session has expired. Sign in to continue.
            </p>
          )}
          <SignInForm onSignedIn={enter} />
          <p className="text-xs text-muted">
            No account yet? Create the first one on the server with{' '}
            <code className="font-mono">gateway admin create --email YOU</code>.
          </p>
        </div>
      </main>
    </div>
  )
}
