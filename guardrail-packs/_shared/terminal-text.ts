/** Key names of tools and tmux: keys that end a line, a space, and keys without text. */
const lineEnd = /^(?:enter|return|kpenter|cr|lf|c-[mjcd]|\^[MJCD])$/i
const space = /^(?:space|spacebar)$/i
const silent = /^(?:up|down|left|right|esc(?:ape)?|tab|home|end|f\d+)$/i
const inBrackets = /[{<[]\/?([a-z]{2,8}|[C^]-?[a-z])[}>\]]/gi
const atEnd = /\s(enter|return|C-[mj])\s*$/i

const [interrupt, endOfInput, backspace, lineFeed, carriageReturn] = [3, 4, 8, 10, 13]
const [killLine, escapeSign, rubout] = [21, 27, 127]

/** The text that arrives in a terminal: keys end lines or delete text. */
export function terminalText(typed: string | readonly string[]): string {
  if (typeof typed !== 'string') return arrived(typed.map(keyText).join(''))
  const named = typed
    .replace(inBrackets, (written, key: string) => keyOf(key) ?? written)
    .replace(atEnd, '\n')
  return arrived(keyText(named).replace(/\\[rn]$/, '\n'))
}

/** One of several keys: a name, or text. */
function keyText(text: string): string {
  return keyOf(text.trim()) ?? text
}

function keyOf(name: string): string | undefined {
  if (lineEnd.test(name)) return '\n'
  if (space.test(name)) return ' '
  return silent.test(name) ? '' : undefined
}

/** Applies control characters. */
function arrived(typed: string): string {
  if (!holdsControls(typed)) return typed
  const text: string[] = []
  for (let at = 0; at < typed.length; at++) {
    switch (typed.charCodeAt(at)) {
      case interrupt:
      case endOfInput:
      case carriageReturn:
        text.push('\n')
        break
      case backspace:
      case rubout:
        if (text.at(-1) !== '\n') text.pop()
        break
      case killLine:
        while (text.length > 0 && text.at(-1) !== '\n') text.pop()
        break
      case escapeSign:
        at = endOfEscape(typed, at)
        break
      default:
        text.push(typed.charAt(at))
    }
  }
  return text.join('')
}

function holdsControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 32 ? code !== lineFeed && code !== 9 : code === rubout) return true
  }
  return false
}

/** `ESC [ 1 ; 5 A`, `ESC O P`: an arrow or a function key. */
function endOfEscape(text: string, from: number): number {
  const next = text.charAt(from + 1)
  if (next === 'O') return from + 2
  if (next !== '[') return from
  let at = from + 2
  while (/[\d;?]/.test(text.charAt(at))) at++
  return at
}
