import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'

export type LogFormat = 'pretty' | 'json'

/** Logs to standard error; standard output belongs to the commands. */
export function createLogger(format: LogFormat | undefined, level = 'info'): Logger {
  const chosen = format ?? (process.stderr.isTTY ? 'pretty' : 'json')
  return chosen === 'pretty'
    ? pino({ level }, pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }))
    : pino({ level }, pino.destination({ fd: 2, sync: true }))
}
