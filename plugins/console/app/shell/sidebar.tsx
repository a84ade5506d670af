import { Link, useNavigate } from '@tanstack/react-router'
import { LogOut, Monitor, Moon, Search, Sun } from 'lucide-react'
import { useEffect, useEffectEvent, useRef } from 'react'
import { api, takeNothing } from '@/api/client.ts'
import { cx } from '@/lib/cx.ts'
import { signedIn, type User } from '@/lib/session.ts'
import { chooseTheme, type Theme, theme, themes } from '@/lib/theme.ts'
import { visibleGroups } from '@/shell/navigation.ts'
import { Button } from '@/ui/button.tsx'
import { toast } from '@/ui/toast.tsx'

export interface SidebarProps {
  readonly user: User
  /** In a narrow window: whether it covers the page. In a wide one it is always visible. */
  readonly open: boolean
  readonly onClose: () => void
  readonly onSearch: () => void
}

export function Sidebar({ user, open, onClose, onSearch }: SidebarProps) {
  const first = useRef<HTMLButtonElement>(null)
  const close = useEffectEvent(onClose)
  useEffect(() => {
    if (!open) return
    first.current?.focus()
    const listen = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') close()
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [open])
  return (
    <>
      {open && (
        <button
          type="button"
          aria-label="Close menu"
          className="fixed inset-0 z-30 bg-black/50 lg:hidden"
          onClick={onClose}
        />
      )}
      <aside
        className={cx(
          'fixed inset-y-0 left-0 z-40 w-56 flex-col border-r border-line bg-panel lg:static lg:flex print:hidden',
          open ? 'flex' : 'hidden',
        )}
      >
        <div className="flex items-center gap-2 px-4 pt-4 pb-3">
          <Mark />
          <span className="font-semibold tracking-tight">Model gateway</span>
        </div>
        <button
          ref={first}
          type="button"
          onClick={onSearch}
          className="mx-3 mb-2 flex h-8 items-center gap-2 rounded-md border border-line bg-canvas px-2.5 text-muted hover:text-ink"
        >
          <Search aria-hidden className="size-4" />
          Search
          <kbd className="ml-auto font-sans text-xs">Ctrl K</kbd>
        </button>
        <nav aria-label="Pages" className="min-h-0 flex-1 overflow-y-auto px-3 pb-3">
          {visibleGroups(user.role === 'platform_admin').map(({ label, entries }) => (
            <div key={label} className="mt-3 first:mt-1">
              <h2 className="px-2 pb-1 text-xs font-medium text-muted">{label}</h2>
              <ul className="grid gap-px">
                {entries.map(({ path, label, icon: Icon }) => (
                  <li key={path}>
                    <Link
                      to={path}
                      activeOptions={{ exact: path === '/', includeSearch: false }}
                      className="flex h-7.5 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-raised hover:text-ink aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text"
                    >
                      <Icon aria-hidden className="size-4 shrink-0" />
                      {label}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <Footer user={user} />
      </aside>
    </>
  )
}

const icons = { system: Monitor, light: Sun, dark: Moon }
const names = { system: 'system', light: 'light', dark: 'dark' }

function Footer({ user }: { user: User }) {
  const navigate = useNavigate()
  const chosen = theme.use()
  const next = themes[(themes.indexOf(chosen) + 1) % themes.length] as Theme
  const Icon = icons[chosen]
  async function signOut() {
    try {
      await takeNothing(api.POST('/api/v1/auth/logout'))
    } catch (error) {
      return toast((error as Error).message)
    }
    await navigate({ to: '/sign-in' })
    signedIn(null)
  }
  return (
    <div className="flex items-center gap-1 border-t border-line p-2">
      <Link to="/account" className="min-w-0 flex-1 rounded-md px-2 py-1 hover:bg-raised">
        <span className="block truncate font-medium">{user.name}</span>
        <span className="block truncate text-xs text-muted">{user.email}</span>
      </Link>
      <Button
        kind="ghost"
        size="icon"
        aria-label={`Theme: ${names[chosen]}`}
        title={`Theme: ${names[chosen]}`}
        onClick={() => chooseTheme(next)}
      >
        <Icon />
      </Button>
      <Button
        kind="ghost"
        size="icon"
        aria-label="Sign out"
        title="Sign out"
        onClick={() => void signOut()}
      >
        <LogOut />
      </Button>
    </div>
  )
}

export function Mark({ className }: { className?: string }) {
  return (
    <svg aria-hidden viewBox="0 0 32 32" className={cx('size-6', className)}>
      <title>Model gateway</title>
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path
        d="M8 22V13a8 8 0 0 1 16 0v9M13 22v-8a3 3 0 0 1 6 0v8"
        fill="none"
        stroke="#fff"
        strokeWidth="2.4"
        strokeLinecap="round"
      />
    </svg>
  )
}
