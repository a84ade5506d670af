import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { Lock, type LucideIcon, Moon, Sun } from 'lucide-react'
import { useEffect, useRef } from 'react'
import type { User } from '@/lib/session.ts'
import { chooseTheme } from '@/lib/theme.ts'
import { visibleGroups } from '@/shell/navigation.ts'

/** Finds pages and commands by a few letters of their names. */
export default function Palette({ user, onClose }: { user: User; onClose: () => void }) {
  const navigate = useNavigate()
  const element = useRef<HTMLDialogElement>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    element.current?.showModal()
    input.current?.focus()
  }, [])
  const run = (action: () => void) => () => {
    onClose()
    action()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it; the click is on the backdrop
    <dialog
      ref={element}
      aria-label="Command palette"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) onClose()
      }}
      className="mx-auto mt-[12vh] w-[min(36rem,calc(100vw-2rem))] overflow-hidden rounded-lg border border-line bg-panel p-0 text-ink shadow-xl"
    >
      <Command label="Commands">
        <Command.Input
          ref={input}
          placeholder="Go to a page or run a command"
          className="h-11 w-full border-b border-line bg-transparent px-4 outline-none placeholder:text-muted"
        />
        <Command.List className="max-h-[50vh] overflow-auto p-2">
          <Command.Empty className="px-3 py-6 text-center text-muted">No results</Command.Empty>
          {visibleGroups(user.role === 'platform_admin').map(({ label, entries }) => (
            <Command.Group key={label} heading={label} className={groupStyle}>
              {entries.map((entry) => (
                <Item
                  key={entry.path}
                  icon={entry.icon}
                  text={entry.label}
                  words={`${label} ${entry.words ?? ''}`}
                  onSelect={run(() => void navigate({ to: entry.path }))}
                />
              ))}
            </Command.Group>
          ))}
          <Command.Group heading="Actions" className={groupStyle}>
            <Item icon={Sun} text="Light theme" onSelect={run(() => chooseTheme('light'))} />
            <Item icon={Moon} text="Dark theme" onSelect={run(() => chooseTheme('dark'))} />
            <Item
              icon={Lock}
              text="Change password"
              onSelect={run(() => void navigate({ to: '/account' }))}
            />
          </Command.Group>
        </Command.List>
      </Command>
    </dialog>
  )
}

const groupStyle =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted'

interface ItemProps {
  readonly icon: LucideIcon
  readonly text: string
  readonly words?: string
  readonly onSelect: () => void
}

function Item({ icon: Icon, text, words = '', onSelect }: ItemProps) {
  return (
    <Command.Item
      value={`${text} ${words}`}
      onSelect={onSelect}
      className="flex h-8 cursor-pointer items-center gap-2.5 rounded-md px-2 data-[selected=true]:bg-accent-soft data-[selected=true]:text-accent-text"
    >
      <Icon aria-hidden className="size-4" />
      {text}
    </Command.Item>
  )
}
