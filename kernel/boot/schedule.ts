import type { Logger } from 'pino'
import { MAX_TIMER_MS, type Schedule } from '../plugin/index.ts'

/** Runs recurring tasks of one plugin until `signal` aborts. */
export function createSchedule(log: Logger, signal: AbortSignal): Schedule {
  return {
    every(ms, task) {
      if (!(ms >= 1 && ms <= MAX_TIMER_MS)) {
        throw new Error(`every ${ms} ms: must be from 1 to ${MAX_TIMER_MS}`)
      }
      if (signal.aborted) return
      let running = false
      const timer = setInterval(async () => {
        if (running) return
        running = true
        try {
          await task()
        } catch (err) {
          log.error({ err }, 'a scheduled task failed')
        } finally {
          running = false
        }
      }, ms)
      signal.addEventListener('abort', () => clearInterval(timer), { once: true })
    },
  }
}
