import { Check, Copy } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/ui/button.tsx'

const SHOWN_MS = 1500

/** Puts a text on the clipboard, and shows that it is there. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  async function copy() {
    await writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return (
    <Button
      kind="ghost"
      size="icon-sm"
      aria-label={copied ? 'Copied' : label}
      onClick={() => void copy()}
    >
      {copied ? <Check className="text-good" /> : <Copy />}
    </Button>
  )
}

/** Also on a plain http address, where browsers have no clipboard for pages. */
async function writeText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
