import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/ui/button.tsx'

const SHOWN_MS = 1500

/** Puts a text on the clipboard, and shows that it is there. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  async function copy(beside: Element) {
    await writeText(text, beside)
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

/** Also on a plain http address, where browsers have no clipboard for pages. */
async function writeText(text: string, beside: Element): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  // What lies behind an open dialog cannot be selected.
  beside.after(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
