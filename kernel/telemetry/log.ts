import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type LogFormat = 'pretty' | 'json'

/** What waits for a full disk; what comes on top is left out. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024

/** Logs to standard error; standard output belongs to the commands. */
export function createLogger(format: LogFormat | undefined, level = 'info'): Logger {
  const chosen = format ?? (process.stderr.isTTY ? 'pretty' : 'json')
  return chosen === 'pretty'
    ? pino({ level }, pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }))
    : pino({ level }, standardError())
}

function standardError() {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: MOST_WAITING_BYTES })
  // Unheard, a fault of the disk would be thrown at whoever logs, and end the process.
  destination.on('error', () => {})
  return destination
}
