import { DiagLogLevel, diag } from '@opentelemetry/api'
import type { Logger } from 'pino'

/** Minimum interval of log lines, because an unreachable collector fails every export. */
const ONE_LINE_EVERY_MS = 60_000
const LONGEST_MESSAGE = 300

export interface Diagnostics {
  /** Called after a successful export. */
  sent(signal: Signal): void
}
type Signal = 'traces' | 'metrics'

/**
 * Logs telemetry errors, at most one line a minute, and one line when export works again. The
 * gateway's messages start with their signal.
 */
export function logDiagnostics(
  log: Logger,
  now: () => number = () => performance.now(),
): Diagnostics {
  let quietUntil = Number.NEGATIVE_INFINITY
  let unsaid = 0
  let said = false
  const failing = new Set<string>()
  const tell = (message: string, ...more: unknown[]) => {
    const signal = /^(?:traces|metrics)(?=: )/.exec(message)?.[0]
    if (signal !== undefined) failing.add(signal)
    if (now() < quietUntil) {
      unsaid++
      return
    }
    const reason = [message, ...more].flatMap(plain).join(' ').slice(0, LONGEST_MESSAGE)
    log.warn({ component: 'telemetry', reason, unsaid }, 'telemetry was lost')
    quietUntil = now() + ONE_LINE_EVERY_MS
    unsaid = 0
    said = true
  }
  const ignore = () => {}
  diag.setLogger(
    { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
  return {
    sent(signal) {
      if (!failing.delete(signal) || failing.size > 0 || !said) return
      log.info({ component: 'telemetry', unsaid }, 'telemetry export works again')
      unsaid = 0
      said = false
    },
  }
}

/** The SDK reports an error as an Error, or as JSON with its stack. */
function plain(said: unknown): string[] {
  if (said instanceof Error) return [said.message]
  if (typeof said !== 'string') return []
  try {
    const error = JSON.parse(said) as { message?: unknown } | null
    if (typeof error?.message === 'string') return [error.message]
  } catch {
    // Most messages are plain text.
  }
  return [said]
}
