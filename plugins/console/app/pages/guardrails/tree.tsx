import { ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { Badge, type Tone } from '@/ui/badge.tsx'

/** One node of a command as the packs parse it. */
export interface Piece {
  readonly kind: string
  readonly text: string
  /** Its resolved value, if that differs from its text. */
  readonly value: string | undefined
  /** Its value is known only at run time. */
  readonly unknown: boolean
  readonly children: readonly Piece[]
}

const DEEPEST = 250

/** The nodes in the tree of an explanation; anything else is skipped. */
export function piecesOf(tree: unknown, depth = 0): readonly Piece[] {
  if (!Array.isArray(tree) || depth > DEEPEST) return []
  return tree.flatMap((one: Partial<Record<keyof Piece, unknown>> | null) => {
    if (typeof one?.kind !== 'string' || typeof one.text !== 'string') return []
    return [
      {
        kind: one.kind,
        text: one.text,
        value: typeof one.value === 'string' ? one.value : undefined,
        unknown: one.unknown === true,
        children: piecesOf(one.children, depth + 1),
      },
    ]
  })
}

const tones: Readonly<Record<string, Tone>> = {
  command: 'accent',
  runs: 'warn',
  substitution: 'warn',
  redirect: 'good',
  heredoc: 'good',
  error: 'bad',
  cut: 'warn',
}

/** A command as a collapsible tree. */
export function CommandTree({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <ul aria-label="Command tree" className="grid gap-0.5 overflow-x-auto">
      {pieces.map((piece, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one command, which never move
        <Branch key={n} piece={piece} />
      ))}
    </ul>
  )
}

function Branch({ piece }: { piece: Piece }) {
  const [open, setOpen] = useState(true)
  const { kind, text, children } = piece
  const Chevron = open ? ChevronDown : ChevronRight
  return (
    <li>
      <div className="flex min-w-0 items-start gap-1">
        {children.length === 0 ? (
          <span className="w-4 shrink-0" />
        ) : (
          <button
            type="button"
            aria-expanded={open}
            aria-label={`${kind} ${text}`}
            className="mt-0.5 grid size-4 shrink-0 place-items-center rounded text-muted hover:bg-raised hover:text-ink"
            onClick={() => setOpen(!open)}
          >
            <Chevron aria-hidden className="size-3.5" />
          </button>
        )}
        <Line piece={piece} />
      </div>
      {open && children.length > 0 && (
        <ul className="ml-2 grid gap-0.5 border-l border-line pt-0.5 pl-3">
          {children.map((child, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one command, which never move
            <Branch key={n} piece={child} />
          ))}
        </ul>
      )}
    </li>
  )
}

function Line({ piece: { kind, text, value, unknown } }: { piece: Piece }) {
  const code = 'font-mono text-xs leading-5 whitespace-pre-wrap [overflow-wrap:anywhere]'
  return (
    <span className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
      <Badge tone={tones[kind] ?? 'plain'}>{kind}</Badge>
      {text !== '' && <bdi className={code}>{text}</bdi>}
      {value !== undefined && (
        <bdi className={`${code} font-semibold`}>
          <span aria-hidden className="text-muted">
            ={' '}
          </span>
          <span className="sr-only">resolves to </span>
          {value}
        </bdi>
      )}
      {unknown && (
        <Badge tone="warn">
          <span aria-hidden>?</span>
          <span className="sr-only">known only at run time</span>
        </Badge>
      )}
    </span>
  )
}
