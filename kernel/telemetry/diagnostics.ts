import { DiagLogLevel, diag } from '@opentelemetry/api'
import type { Logger } from 'pino'

/** A collector that is away fails every export; one line in this time says so. */
const ONE_LINE_EVERY_MS = 60_000
const LONGEST_MESSAGE = 300

/** Sends the complaints of the telemetry SDK to the log, at most one line a minute. */
export function logDiagnostics(log: Logger, now: () => number = () => performance.now()): void {
  let quietUntil = Number.NEGATIVE_INFINITY
  let unsaid = 0
  const tell = (message: string) => {
    if (now() < quietUntil) {
      unsaid++
      return
    }
    log.warn({ component: 'telemetry', reason: plain(message), unsaid }, 'telemetry was lost')
    quietUntil = now() + ONE_LINE_EVERY_MS
    unsaid = 0
  }
  const ignore = () => {}
  diag.setLogger(
    { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

/** The SDK tells of an error as JSON, with its stack. */
function plain(message: string): string {
  let text = message
  try {
    const error = JSON.parse(message) as { message?: unknown }
    if (typeof error.message === 'string') text = error.message
  } catch {
    // Most are plain already.
  }
  return text.slice(0, LONGEST_MESSAGE)
}
