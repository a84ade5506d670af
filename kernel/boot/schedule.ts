import type { Logger } from 'pino'
import type { Schedule } from '../plugin/index.ts'

/** Recurring tasks of one plugin, until `signal` aborts. */
export function createSchedule(log: Logger, signal: AbortSignal): Schedule {
  return {
    every(ms, task) {
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
