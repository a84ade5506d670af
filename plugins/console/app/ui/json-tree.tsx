import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { bytes, count } from '@/lib/format.ts'
import { Badge } from '@/ui/badge.tsx'

const LONG = 600
const MANY = 100
const REDACTED = '[redacted]'

export interface JsonTreeProps {
  readonly value: unknown
  /** A heading for the tree; default: none. */
  readonly name?: string
  /** The number of levels that start open. Default 2. */
  readonly open?: number
}

/**
 * JSON with collapsible objects and arrays. Redacted and truncated values are marked:
 * `"[redacted]"` and `{"truncated":true,"size_bytes":n,"preview":"…"}`.
 */
export function JsonTree({ value, name, open = 2 }: JsonTreeProps) {
  return (
    <div className="font-mono text-xs leading-5 [overflow-wrap:anywhere]">
      <Node value={value} name={name} open={open} />
    </div>
  )
}

function Node({ value, name, open }: { value: unknown; name: string | undefined; open: number }) {
  const [unfolded, setUnfolded] = useState(open > 0)
  const [all, setAll] = useState(false)
  const label = name !== undefined && <span className="text-accent-text">{name}: </span>
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="pl-4">
        {label}
        <Leaf value={value} />
      </div>
    )
  }
  const cut = cutOff(value)
  if (cut !== undefined) {
    return (
      <div className="pl-4">
        {label}
        <Badge tone="warn">
          truncated{cut.size === undefined ? '' : `: ${bytes(cut.size)} in total`}
        </Badge>
        {cut.preview !== undefined && (
          <div className="mt-1 border-l-2 border-line pl-3">
            <Text text={cut.preview} />
          </div>
        )}
      </div>
    )
  }
  const isList = Array.isArray(value)
  const members = Object.entries(value)
  if (members.length === 0) {
    return (
      <div className="pl-4">
        {label}
        <span className="text-muted">{isList ? '[]' : '{}'}</span>
      </div>
    )
  }
  const Chevron = unfolded ? ChevronDown : ChevronRight
  const shown = all ? members : members.slice(0, MANY)
  return (
    <div>
      <button
        type="button"
        aria-expanded={unfolded}
        className="flex items-center gap-0.5 rounded text-left hover:bg-raised"
        onClick={() => setUnfolded(!unfolded)}
      >
        <Chevron aria-hidden className="size-3.5 shrink-0 text-muted" />
        <span>
          {label}
          <span className="text-muted">
            {isList ? `[ ${count(members.length)} ]` : `{ ${count(members.length)} }`}
          </span>
        </span>
      </button>
      {unfolded && (
        <div className="ml-1.5 border-l border-line pl-2">
          {shown.map(([key, member]) => (
            <Node key={key} name={key} value={member} open={open - 1} />
          ))}
          {members.length > shown.length && (
            <button
              type="button"
              className="pl-4 text-accent-text hover:underline"
              onClick={() => setAll(true)}
            >
              {count(members.length - shown.length)} more
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Leaf({ value }: { value: unknown }) {
  if (value === REDACTED) return <Badge tone="warn">redacted</Badge>
  if (typeof value === 'string') return <Text text={value} />
  return <span className="text-good">{String(value)}</span>
}

function Text({ text }: { text: string }) {
  const [all, setAll] = useState(text.length <= LONG)
  return (
    <span className="whitespace-pre-wrap">
      {marked(all ? text : text.slice(0, LONG))}
      {!all && (
        <button
          type="button"
          className="ml-1 text-accent-text hover:underline"
          onClick={() => setAll(true)}
        >
          … show all {count(text.length)} characters
        </button>
      )}
      {text === '' && <span className="text-muted">""</span>}
    </span>
  )
}

/** Marks redactions inside a text. */
function marked(text: string) {
  return text.split(REDACTED).flatMap((piece, n) =>
    n === 0
      ? [piece]
      : [
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, which never move
          <Badge key={n} tone="warn">
            redacted
          </Badge>,
          piece,
        ],
  )
}

function cutOff(
  value: object,
): { size: number | undefined; preview: string | undefined } | undefined {
  if (!('truncated' in value) || value.truncated !== true) return undefined
  return {
    size:
      'size_bytes' in value && typeof value.size_bytes === 'number' ? value.size_bytes : undefined,
    preview: 'preview' in value && typeof value.preview === 'string' ? value.preview : undefined,
  }
}
