import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { maskCredentials } from '../plugin/key-forms.ts'

export type LogFormat = 'pretty' | 'json'

/** What waits for a full disk; what comes on top is left out. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024

/** Logs to standard error; standard output belongs to the commands. */
export function createLogger(format: LogFormat | undefined, level = 'info'): Logger {
  const chosen = format ?? (process.stderr.isTTY ? 'pretty' : 'json')
  const options = { level, serializers: { err: readError } }
  return chosen === 'pretty'
    ? pino(options, pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }))
    : pino(options, standardError())
}

/**
 * An error without the credentials in its words, which are often those of a library or an upstream. A plugin
 * may throw what throws in its turn, and the caller of the logger has to go on.
 */
function readError(error: Error): unknown {
  try {
    const read: unknown = pino.stdSerializers.err(error)
    if (!(error instanceof Error)) return read
    const { message, stack, ...rest } = read as { message: string; stack?: string }
    return {
      ...rest,
      message: maskCredentials(message),
      ...(stack === undefined ? {} : { stack: maskCredentials(stack) }),
    }
  } catch {
    return 'an error that cannot be read'
  }
}

function standardError() {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: MOST_WAITING_BYTES })
  // Unheard, a fault of the disk would be thrown at whoever logs, and end the process.
  destination.on('error', () => {})
  return destination
}
