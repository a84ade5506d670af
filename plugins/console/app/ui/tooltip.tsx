import { type ReactNode, useId, useRef } from 'react'

const GAP = 6

/** A short explanation on hover and focus. Its anchor is focusable, so that keyboards reach it. */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  const id = useId()
  const anchor = useRef<HTMLSpanElement>(null)
  const tip = useRef<HTMLSpanElement>(null)
  function show() {
    if (anchor.current === null || tip.current === null) return
    tip.current.showPopover()
    const at = anchor.current.getBoundingClientRect()
    const size = tip.current.getBoundingClientRect()
    const below = at.bottom + GAP + size.height < window.innerHeight
    const left = at.left + at.width / 2 - size.width / 2
    tip.current.style.top = `${below ? at.bottom + GAP : at.top - GAP - size.height}px`
    tip.current.style.left = `${Math.max(GAP, Math.min(left, window.innerWidth - size.width - GAP))}px`
  }
  const hide = () => tip.current?.hidePopover()
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only shows what its description says */}
      <span
        ref={anchor}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to reach the explanation
        tabIndex={0}
        aria-describedby={id}
        onMouseEnter={show}
        onMouseLeave={hide}
        onFocus={show}
        onBlur={hide}
        className="rounded underline decoration-dotted decoration-line-strong underline-offset-3"
      >
        {children}
      </span>
      <span
        ref={tip}
        id={id}
        role="tooltip"
        popover="manual"
        className="fixed m-0 max-w-72 rounded-md border border-line bg-raised px-2.5 py-1.5 text-xs text-ink shadow-lg"
      >
        {text}
      </span>
    </>
  )
}
