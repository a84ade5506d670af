import { DiagLogLevel, diag } from '@opentelemetry/api'
import type { Logger } from 'pino'

/** A collector that is away fails every export; one line in this time says so. */
const ONE_LINE_EVERY_MS = 60_000
const LONGEST_MESSAGE = 300

/** Sends the complaints of the telemetry SDK to the log, at most one line a minute. */
export function logDiagnostics(log: Logger, now: () => number = () => performance.now()): void {
  let quietUntil = Number.NEGATIVE_INFINITY
  let unsaid = 0
  const tell = (message: string, ...more: unknown[]) => {
    if (now() < quietUntil) {
      unsaid++
      return
    }
    const reason = [message, ...more].flatMap(plain).join(' ').slice(0, LONGEST_MESSAGE)
    log.warn({ component: 'telemetry', reason, unsaid }, 'telemetry was lost')
    quietUntil = now() + ONE_LINE_EVERY_MS
    unsaid = 0
  }
  const ignore = () => {}
  diag.setLogger(
    { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

/** The SDK tells of an error as it is, or as JSON with its stack. */
function plain(said: unknown): string[] {
  if (said instanceof Error) return [said.message]
  if (typeof said !== 'string') return []
  try {
    const error = JSON.parse(said) as { message?: unknown } | null
    if (typeof error?.message === 'string') return [error.message]
  } catch {
    // Most are plain already.
  }
  return [said]
}
