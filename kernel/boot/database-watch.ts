import type { Logger } from 'pino'
import type { OpenDatabase } from '../storage/index.ts'
import { createSchedule } from './schedule.ts'

const LOOK_EVERY_MS = 2000
const PATIENCE_MS = 1000

export interface DatabaseWatch {
  /** Whether it answered the last time, within a second. */
  reachable(): boolean
  stop(): void
}

/** Asks the database every two seconds whether it is there. */
export function watchDatabase({ sql }: Pick<OpenDatabase, 'sql'>, log: Logger): DatabaseWatch {
  const over = new AbortController()
  let reachable = true
  const note = (now: boolean) => {
    if (over.signal.aborted || now === reachable) return
    reachable = now
    if (now) log.info('the database can be reached again')
    else log.warn('the database cannot be reached')
  }
  createSchedule(log, over.signal).every(LOOK_EVERY_MS, async () => {
    // One that hangs is waited for; until then it is away.
    const late = setTimeout(() => note(false), PATIENCE_MS)
    try {
      await sql`select 1`
      note(true)
    } catch {
      note(false)
    } finally {
      clearTimeout(late)
    }
  })
  return { reachable: () => reachable, stop: () => over.abort() }
}
