import type { Disposer, PluginContext } from 'model-gateway/plugin'

/** Also the longest that a change goes unseen while notifications do not arrive. */
const LOOK_EVERY_MS = 1_000

/**
 * Looks at the database at each notification and each second, so that what is kept in memory follows
 * it, and says when it cannot be reached and when it can be again. Resolves to the end of listening.
 */
export async function followDatabase(
  { database, schedule, log, signal }: PluginContext<unknown, 'database' | 'schedule'>,
  channel: string,
  look: () => Promise<void>,
  said: { readonly away: string; readonly back: string },
): Promise<Disposer> {
  let inReach = true
  const check = async () => {
    try {
      await look()
      if (!inReach) log.info(said.back)
      inReach = true
    } catch (err) {
      // The end closes the connections of a look that is under way.
      if (signal.aborted) return
      if (inReach) log.warn({ err }, `the database cannot be reached; ${said.away}`)
      inReach = false
    }
  }
  const stopListening = await database.listen(
    channel,
    () => void check(),
    () => void check(),
  )
  schedule.every(LOOK_EVERY_MS, check)
  return stopListening
}
