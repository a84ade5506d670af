import pino, { type Logger } from 'pino'

/** Whatever is written while it listens, through the plugin's logger and past it. */
export interface Output {
  readonly log: Logger
  text(): string
  /** Stops listening to the process. */
  release(): void
}

const consoleCalls = ['debug', 'log', 'info', 'warn', 'error'] as const

/** Listens to a logger of its own, and to the console and the outputs of this process. */
export function listenToOutput(): Output {
  const lines: string[] = []
  const undo: (() => void)[] = []
  for (const name of consoleCalls) {
    const real = console[name]
    console[name] = (...parts: unknown[]) => {
      lines.push(parts.map((part) => Bun.inspect(part)).join(' '))
    }
    undo.push(() => {
      console[name] = real
    })
  }
  for (const stream of [process.stdout, process.stderr]) {
    const real = stream.write
    stream.write = (chunk: string | Uint8Array) => {
      lines.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
      return true
    }
    undo.push(() => {
      stream.write = real
    })
  }
  return {
    log: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }),
    text: () => lines.join('\n'),
    release() {
      for (const restore of undo.splice(0)) restore()
    },
  }
}
