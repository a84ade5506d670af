import { Cron } from 'croner'

/** Why a text is not a valid schedule; undefined if it is. */
export function scheduleProblem(text: string): string | undefined {
  if (text === 'off') return undefined
  if (text.trim().split(/\s+/).length !== 5) return 'must be off or five cron fields'
  try {
    return cronOf(text).nextRun() === null ? 'does not match any time' : undefined
  } catch {
    return 'must be off or five cron fields'
  }
}

/** The latest time of a schedule in `(after, now]`, if any. */
export function dueSlot(schedule: string, after: Date, now: Date): Date | undefined {
  if (schedule === 'off') return undefined
  const [slot] = cronOf(schedule).previousRuns(1, new Date(now.getTime() + 1))
  return slot !== undefined && slot > after && slot <= now ? slot : undefined
}

function cronOf(text: string): Cron {
  return new Cron(text, { paused: true, timezone: 'UTC' })
}
