import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/ui/button.tsx'

const SHOWN_MS = 1500

/** Copies a text to the clipboard, then shows a check mark. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  async function copy(near: Element) {
    if (!(await writeText(text, near))) return
    setCopied(true)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <Button
      kind="ghost"
      size="icon-sm"
      aria-label={copied ? 'Copied' : label}
      onClick={({ currentTarget }) => void copy(currentTarget)}
    >
      {copied ? <Check className="text-good" /> : <Copy />}
    </Button>
  )
}

/**
 * Returns whether the copy worked. Over plain http, where pages have no clipboard API, it selects
 * the text in a hidden field and runs the browser's copy command.
 */
async function writeText(text: string, near: Element): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const area = document.createElement('textarea')
  area.value = text
  // Placed inside an open dialog, because nothing behind a dialog can be selected.
  near.after(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}
