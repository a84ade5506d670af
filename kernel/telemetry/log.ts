import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

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

/** A plugin may throw what throws in its turn, and whoever logs a fault is to go on. */
function readError(error: Error): unknown {
  try {
    return pino.stdSerializers.err(error)
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
