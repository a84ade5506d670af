import { X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { cx } from '@/lib/cx.ts'
import { Input } from '@/ui/field.tsx'

export interface Choice {
  readonly key: string
  readonly label: string
  /** A detail that distinguishes options with the same name. */
  readonly note?: string
}

export interface PickerProps {
  readonly label: string
  /** The name of the chosen option; '' for none. */
  readonly chosen: string
  /** The options that match the latest text. */
  readonly choices: readonly Choice[]
  /** `pending`: the options match an earlier text; `failed`: the search failed. */
  readonly found: 'known' | 'pending' | 'failed'
  readonly onSearch: (text: string) => void
  /** undefined: the choice was cleared. */
  readonly onChoose: (key: string | undefined) => void
  readonly id?: string
  readonly className?: string
  readonly 'aria-describedby'?: string | undefined
  readonly 'aria-invalid'?: boolean | undefined
}

const GAP = 4
const nothing = {
  known: 'No matches',
  pending: 'Searching…',
  failed: 'Search failed. Type to retry.',
}

/** The state of a search. */
export function foundOf(
  queries: readonly {
    readonly isPlaceholderData: boolean
    readonly isPending: boolean
    readonly isError: boolean
  }[],
): PickerProps['found'] {
  if (queries.some(({ isError }) => isError)) return 'failed'
  const old = queries.some(({ isPlaceholderData, isPending }) => isPlaceholderData || isPending)
  return old ? 'pending' : 'known'
}

/** A combobox: one of many options, found by name with the keyboard or the mouse. */
export function Picker(props: PickerProps) {
  const { label, chosen, choices, found, onSearch, onChoose, id, className } = props
  const list = useId()
  const input = useRef<HTMLInputElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  const [written, setWritten] = useState<string>()
  const [at, setAt] = useState(0)
  /** Enter was pressed while the options still matched an earlier text: choose when they arrive. */
  const [wanted, setWanted] = useState(false)
  const open = written !== undefined
  useEffect(() => {
    const box = input.current?.getBoundingClientRect()
    if (popup.current === null || box === undefined) return
    if (!open) return popup.current.hidePopover()
    Object.assign(popup.current.style, {
      top: `${box.bottom + GAP}px`,
      left: `${box.left}px`,
      minWidth: `${box.width}px`,
    })
    popup.current.showPopover()
  }, [open])
  function close() {
    setWritten(undefined)
    setWanted(false)
  }
  function write(text: string) {
    setWritten(text)
    setWanted(false)
    setAt(0)
    onSearch(text)
  }
  function choose(choice: Choice | undefined) {
    if (choice !== undefined) onChoose(choice.key)
    close()
  }
  useEffect(() => {
    if (wanted && found === 'known') choose(choices[at])
  })
  function onKeyDown(event: KeyboardEvent) {
    const { key } = event
    if (key === 'Escape' && open) close()
    else if (key === 'ArrowDown') open ? setAt((at + 1) % Math.max(1, choices.length)) : write('')
    else if (key === 'ArrowUp') setAt((at + choices.length - 1) % Math.max(1, choices.length))
    else if (key === 'Enter' && open) setWanted(true)
    else return
    event.preventDefault()
  }
  return (
    <span className={cx('relative inline-block', className)}>
      <Input
        ref={input}
        id={id}
        role="combobox"
        aria-label={id === undefined ? label : undefined}
        aria-expanded={open}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={open && choices[at] !== undefined ? `${list}-${at}` : undefined}
        aria-describedby={props['aria-describedby']}
        aria-invalid={props['aria-invalid']}
        autoComplete="off"
        placeholder={label}
        value={written ?? chosen}
        className={cx('truncate pr-7', chosen !== '' && id === undefined && 'border-accent')}
        onFocus={(event) => event.target.select()}
        onClick={() => open || write('')}
        onChange={({ target }) => write(target.value)}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      {chosen !== '' && (
        <button
          type="button"
          aria-label={`Clear ${label}`}
          className="absolute top-1.5 right-1 grid size-5 place-items-center rounded bg-panel text-muted hover:text-ink"
          onClick={() => onChoose(undefined)}
        >
          <X aria-hidden className="size-3.5" />
        </button>
      )}
      <div
        ref={popup}
        id={list}
        role="listbox"
        aria-label={label}
        popover="manual"
        className="fixed m-0 max-h-64 max-w-[min(26rem,90vw)] overflow-auto rounded-md border border-line bg-panel p-1 text-ink shadow-lg"
      >
        {open &&
          choices.map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input takes the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input
            <div
              key={choice.key}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === at}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(choice)}
              className={cx(
                'flex cursor-pointer items-baseline gap-2 rounded px-2 py-1',
                index === at && 'bg-accent-soft text-accent-text',
              )}
            >
              <span className="min-w-0 truncate">{choice.label}</span>
              {choice.note !== undefined && (
                <span className="min-w-0 truncate text-xs text-muted">{choice.note}</span>
              )}
            </div>
          ))}
        {open && choices.length === 0 && (
          <div className="px-2 py-1 text-muted">{nothing[found]}</div>
        )}
      </div>
    </span>
  )
}
