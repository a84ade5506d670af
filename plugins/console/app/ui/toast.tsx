import { createStore } from '@/lib/store.ts'

interface Toast {
  readonly id: number
  readonly text: string
}

const SHOWN_MS = 5000
const toasts = createStore<readonly Toast[]>([])
let last = 0

/** Says that something has been done. What went wrong belongs into an ErrorPanel, where it stays. */
export function toast(text: string): void {
  const id = ++last
  toasts.set([...toasts.get(), { id, text }])
  setTimeout(() => toasts.set(toasts.get().filter((one) => one.id !== id)), SHOWN_MS)
}

export function Toaster() {
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-4 z-50 grid justify-items-end gap-2"
    >
      {toasts.use().map(({ id, text }) => (
        <p key={id} className="rounded-md bg-ink px-3 py-2 text-canvas shadow-lg">
          {text}
        </p>
      ))}
    </div>
  )
}
