import { useEffect, useRef } from 'react'
import { createStore } from '@/lib/store.ts'

interface Toast {
  readonly id: number
  readonly text: string
}

const SHOWN_MS = 5000
const toasts = createStore<readonly Toast[]>([])
let last = 0

/** Confirms an action for 5 seconds. Errors belong in an ErrorPanel, which stays. */
export function toast(text: string): void {
  const id = ++last
  toasts.set([...toasts.get(), { id, text }])
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), SHOWN_MS)
}

export function Toaster() {
  const element = useRef<HTMLDivElement>(null)
  const shown = toasts.use()
  useEffect(() => {
    // Reopened for each toast, because the popover opened last is on top of open dialogs.
    element.current?.hidePopover()
    if (shown.length > 0) element.current?.showPopover()
  }, [shown])
  return (
    <div
      ref={element}
      aria-live="polite"
      popover="manual"
      className="pointer-events-none fixed inset-auto right-4 bottom-4 m-0 justify-items-end gap-2 overflow-visible bg-transparent open:grid"
    >
      {shown.map(({ id, text }) => (
        <p key={id} className="rounded-md bg-ink px-3 py-2 text-canvas shadow-lg">
          {text}
        </p>
      ))}
    </div>
  )
}
