import type { Sql, TransactionSql } from 'postgres'

type Work = (tx: TransactionSql) => unknown
type Begin = (...args: [...options: string[], work: Work]) => Promise<unknown>

/**
 * Lets nothing more of a transaction be sent once its connection is lost. The driver would keep it,
 * be it only its own rollback, for the next connection in that place of the pool: one that then never
 * comes about, so that whoever is given the place waits for the time limit and is refused.
 */
export function leaveLostConnections(sql: Sql): void {
  const begin = sql.begin as Begin
  const guarded: Begin = async (...args) => {
    const work = args.pop() as Work
    let over = false
    const requireOpen = () => {
      if (over) throw new Error('the connection of this transaction was lost')
    }
    try {
      return await begin(...(args as string[]), async (tx) => {
        const open = new Proxy(tx, {
          apply(target, self, values) {
            requireOpen()
            return Reflect.apply(target as never, self, values)
          },
          get(target, name) {
            requireOpen()
            return Reflect.get(target, name)
          },
        })
        try {
          const made = work(open)
          const result = await (Array.isArray(made) ? Promise.all(made) : made)
          requireOpen()
          return result
        } catch (error) {
          const lost = await endsConnection(error)
          // The driver has rejected the transaction, or is about to; a result would have it go on.
          if (lost || over) await new Promise(() => {})
          throw error
        }
      })
    } finally {
      over = true
    }
  }
  sql.begin = guarded as Sql['begin']
}

/** Whether the server ends the connection with this error; by then an end that there was is known. */
async function endsConnection(error: unknown): Promise<boolean> {
  const { severity } = (error ?? {}) as { severity?: unknown }
  await new Promise(setImmediate)
  return severity === 'FATAL' || severity === 'PANIC'
}
