import { X } from 'lucide-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { cx } from '@/lib/cx.ts'
import { Button } from '@/ui/button.tsx'

export interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly description?: ReactNode
  readonly children?: ReactNode
  /** Buttons at the end. */
  readonly footer?: ReactNode
  /** `sheet`: at the right edge, with the height of the window. */
  readonly shape?: 'dialog' | 'sheet'
  readonly className?: string
}

const shapes = {
  dialog: 'm-auto w-[min(32rem,calc(100vw-2rem))] max-h-[calc(100dvh-4rem)] rounded-lg border',
  sheet: 'm-0 ml-auto h-dvh max-h-dvh w-[min(52rem,100vw)] max-w-none border-l border-line',
}

const FIRST_FIELD = 'form :is(input:not([readonly]), select, textarea):enabled'

/**
 * The browser's modal dialog: it traps the focus, closes on Escape and returns the focus. A sheet
 * also closes on a click outside it.
 */
export function Dialog({
  open,
  onClose,
  title,
  description,
  children,
  footer,
  shape = 'dialog',
  className,
}: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const pressedBehind = useRef(false)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    if (open && !dialog.open) {
      dialog.showModal()
      // Without this the browser focuses the close button.
      dialog.querySelector<HTMLElement>(FIRST_FIELD)?.focus()
    }
    if (!open && dialog.open) dialog.close()
  }, [open])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it; the click is on the backdrop
    <dialog
      ref={element}
      aria-labelledby={id}
      onClose={(event) => {
        // React also bubbles the events of a dialog inside this one.
        if (event.target === element.current) onClose()
      }}
      onMouseDown={(event) => {
        pressedBehind.current = event.target === element.current
      }}
      onClick={(event) => {
        // A stray click must not lose unsaved input, or a key that is shown once.
        const isRead = shape === 'sheet' && pressedBehind.current
        if (isRead && event.target === element.current) onClose()
      }}
      className={cx(
        'hidden flex-col overflow-hidden text-left font-normal whitespace-normal border-line bg-panel text-ink shadow-xl open:flex',
        shapes[shape],
        className,
      )}
    >
      {open && (
        <>
          <header className="flex items-start gap-3 border-b border-line px-4 py-3">
            <div className="min-w-0 flex-1">
              <h2 id={id} className="text-sm font-semibold">
                {title}
              </h2>
              {description !== undefined && <div className="mt-0.5 text-muted">{description}</div>}
            </div>
            <Button kind="ghost" size="icon-sm" aria-label="Close" onClick={onClose}>
              <X />
            </Button>
          </header>
          <div className="min-h-0 flex-1 overflow-auto px-4 py-3">{children}</div>
          {footer !== undefined && (
            <footer className="flex justify-end gap-2 border-t border-line px-4 py-3">
              {footer}
            </footer>
          )}
        </>
      )}
    </dialog>
  )
}

export function Sheet(props: Omit<DialogProps, 'shape'>) {
  return <Dialog {...props} shape="sheet" />
}
