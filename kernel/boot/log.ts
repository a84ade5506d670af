import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { maskCredentials } from '../plugin/key-forms.ts'

export type LogFormat = 'pretty' | 'json'

/** Bytes kept while the disk is full; later lines are dropped. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024

/** Logs to standard error, because commands print their results to standard output. */
export function createLogger(format: LogFormat | undefined, level = 'info'): Logger {
  const chosen = format ?? (process.stderr.isTTY ? 'pretty' : 'json')
  const options = { level, serializers: { err: readError } }
  return chosen === 'pretty'
    ? pino(options, pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }))
    : pino(options, standardError())
}

/**
 * A copy of the error with credentials masked, because messages often come from a library or an
 * upstream. Never throws, because getters of an error from a plugin may throw.
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
  // Without a listener, a disk error would be thrown at the caller and end the process.
  destination.on('error', () => {})
  return destination
}
