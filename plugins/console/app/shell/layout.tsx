import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation, useRouter } from '@tanstack/react-router'
import { Menu, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { cx } from '@/lib/cx.ts'
import { useScrollMemory } from '@/lib/scroll-memory.ts'
import { ended, sessionQuery, signedIn, wentOn } from '@/lib/session.ts'
import { ConnectionBanner } from '@/shell/connection-banner.tsx'
import { Sidebar } from '@/shell/sidebar.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SignInForm } from '@/ui/sign-in-form.tsx'
import { Toaster } from '@/ui/toast.tsx'

const Palette = lazy(() => import('@/shell/palette.tsx'))

/** The frame around each page of a signed-in user. */
export function Layout() {
  const { data: user } = useQuery(sessionQuery)
  const { pathname } = useLocation()
  const [menu, setMenu] = useState(false)
  const menuButton = useRef<HTMLButtonElement>(null)
  const [palette, setPalette] = useState(false)
  const router = useRouter()
  const main = useRef<HTMLElement>(null)
  useScrollMemory(main)
  const hasEnded = ended.use()
  useEffect(() => {
    if (user !== null) return
    const { href } = router.state.location
    void router.navigate({ to: '/sign-in', search: { next: href, expired: 'yes' } })
  }, [user, router])
  const role = useRef(user?.role)
  useEffect(() => {
    // A user whose role has changed may no longer see this page.
    if (user && role.current !== user.role) void router.invalidate()
    role.current = user?.role
  }, [user, router])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu
  useEffect(() => setMenu(false), [pathname])
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      if (ended.get()) return
      event.preventDefault()
      setPalette((open) => !open)
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [])
  function closeMenu() {
    setMenu(false)
    menuButton.current?.focus()
  }
  if (!user) return null
  return (
    <>
      <div className={cx('flex h-full print:block', hasEnded && 'invisible [&_dialog]:invisible')}>
        <a
          href="#main"
          className="fixed top-2 left-2 z-50 -translate-y-20 rounded-md bg-accent px-3 py-2 text-accent-ink focus:translate-y-0"
        >
          Skip to content
        </a>
        <Sidebar user={user} open={menu} onClose={closeMenu} onSearch={() => setPalette(true)} />
        <div className="flex min-w-0 flex-1 flex-col">
          <ConnectionBanner />
          <header className="flex h-11 items-center gap-2 border-b border-line bg-panel px-2 lg:hidden">
            <Button
              ref={menuButton}
              kind="ghost"
              size="icon"
              aria-label="Menu"
              aria-expanded={menu}
              onClick={() => setMenu(true)}
            >
              <Menu />
            </Button>
            <span className="font-semibold">Model gateway</span>
            <Button
              kind="ghost"
              size="icon"
              aria-label="Search"
              className="ml-auto"
              onClick={() => setPalette(true)}
            >
              <Search />
            </Button>
          </header>
          <main
            ref={main}
            id="main"
            tabIndex={-1}
            className="min-h-0 flex-1 overflow-auto outline-none print:overflow-visible"
          >
            <Outlet />
          </main>
        </div>
        {palette && (
          <Suspense>
            <Palette user={user} onClose={() => setPalette(false)} />
          </Suspense>
        )}
        <Toaster />
      </div>
      <Dialog
        open={hasEnded}
        onClose={() => ended.get() && signedIn(null)}
        title="Your session has expired"
        description="Sign in to continue. Your unsaved input is kept."
      >
        <SignInForm only={user.email} onSignedIn={wentOn} />
      </Dialog>
    </>
  )
}
