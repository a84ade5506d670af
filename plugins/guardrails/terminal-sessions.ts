import type { GuardedToolCall } from 'model-gateway/guardrail'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { parseArguments } from './content.ts'

/** Text that a call types into a terminal that stays open. */
export interface Piece {
  /** The terminal's name in the call; empty if the tool has only one. */
  readonly session: string
  readonly text: string
  /** The arguments of the same call with another text. */
  typing(text: string): JsonObject
}

/** Tools that type into a running program: `write_stdin`, `send-keys`, `interact_with_process`. */
const TYPES =
  /stdin|keys|keystroke|interact|(?:write|send|type|input|feed)\w*(?:bash|console|powershell|process|pty|pwsh|repl|session|shell|terminal|tmux)|(?:bash|console|powershell|process|pty|pwsh|repl|session|shell|terminal|tmux)\w*(?:write|send|type|input|feed)/
const SESSION =
  /^(?:bash|channel|console|pane|process|pty|session|shell|tab|target|terminal|window)?_?(?:id|key|name)?$|^pid$/
const TEXT = /^(?:chars|content|data|input|input_text|keys|keystrokes|stdin|text|value)$/

/** Undefined for any other call. */
export function pieceOf({ tool, arguments: written }: GuardedToolCall): Piece | undefined {
  if (!TYPES.test(snake(tool))) return undefined
  const given = parseArguments(written)
  if (given === undefined) return undefined
  const entries = Object.entries(given)
  const text = entries.find(([name, value]) => TEXT.test(snake(name)) && value !== undefined)
  if (text === undefined || isJsonObject(text[1])) return undefined
  const [name, value] = text
  const session = entries
    .filter(([key, id]) => SESSION.test(snake(key)) && /^(?:string|number)$/.test(typeof id))
    .map(([, id]) => String(id))
  return {
    session: session.join(' '),
    text: Array.isArray(value) ? value.map(keyOf).join('') : String(value),
    typing: (other) => ({ ...given, [name]: other }),
  }
}

function snake(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

/** One key of a list. */
function keyOf(key: unknown): string {
  return /^(?:enter|return|C-[mj])$/i.test(String(key)) ? '\n' : String(key)
}

/**
 * Maximum characters of earlier terminal text that later pieces are judged with: the latest whole
 * lines.
 */
const LONGEST = 4096

/** The text with a piece behind it. */
export function typedBehind(before: string, text: string): string {
  const whole = before + text
  if (whole.length <= LONGEST) return whole
  const end = whole.slice(-LONGEST)
  return end.slice(end.indexOf('\n') + 1)
}

/** Remembers text typed into terminals, for calls that arrive one by one. */
export interface TerminalMemory {
  typed(terminal: string): string
  keep(terminal: string, text: string): void
}

/** Maximum number of remembered terminals; the least recently used is forgotten first. */
const MOST = 1000
const FORGOTTEN_MS = 30 * 60 * 1000

/** In memory only: lost on restart and not shared between replicas. */
export function createTerminalMemory(now: () => number): TerminalMemory {
  const terminals = new Map<string, { readonly text: string; readonly at: number }>()
  return {
    typed(terminal) {
      const known = terminals.get(terminal)
      return known === undefined || now() - known.at > FORGOTTEN_MS ? '' : known.text
    },
    keep(terminal, text) {
      terminals.delete(terminal)
      terminals.set(terminal, { text, at: now() })
      if (terminals.size > MOST) terminals.delete(terminals.keys().next().value ?? '')
    },
  }
}
