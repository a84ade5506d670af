import type { Disposer, PluginContext } from 'model-gateway/plugin'

/** Also the maximum delay of a change if notifications do not arrive. */
const LOOK_EVERY_MS = 1_000

/**
 * Reads the database at each notification and each second to keep memory up to date, and logs when
 * it becomes unreachable and reachable. Resolves to a function that stops listening.
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
      // Stopping closes the connections of a read in progress.
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
