import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/ui/button.tsx'

const SHOWN_MS = 1500

/** Puts a text on the clipboard, and shows that it is there. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  async function copy(beside: Element) {
    if (!(await writeText(text, beside))) return
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

/** Whether the browser took it; also on a plain http address, where it has no clipboard for pages. */
async function writeText(text: string, beside: Element): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const area = document.createElement('textarea')
  area.value = text
  // What lies behind an open dialog cannot be selected.
  beside.after(area)
  area.select()
  const copied = document.execCommand('copy')
  area.remove()
  return copied
}
