import { stdin, stdout } from 'node:process'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'
const ERASE = ['\u007f', '\b']

/**
 * Reads one line from standard input: typed without echo at a terminal, or the first line of a
 * pipe. `undefined` if there is none.
 */
export async function readSecretLine(question: string): Promise<string | undefined> {
  const atTerminal = stdin.isTTY === true
  if (atTerminal) {
    stdout.write(question)
    stdin.setRawMode(true)
  }
  let line = ''
  try {
    for await (const chunk of stdin) {
      for (const character of String(chunk)) {
        if (character === '\r' || character === '\n') return line
        if (atTerminal && (character === CTRL_C || character === CTRL_D)) return undefined
        if (atTerminal && ERASE.includes(character)) line = line.slice(0, -1)
        else line += character
      }
    }
    return line === '' ? undefined : line
  } finally {
    if (atTerminal) {
      stdin.setRawMode(false)
      stdout.write('\n')
    }
    stdin.pause()
  }
}
