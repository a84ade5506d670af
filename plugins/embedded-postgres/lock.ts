import { Database } from 'bun:sqlite'

/** Thrown when another process holds the lock. */
export class LockTakenError extends Error {
  override readonly name = 'LockTakenError'
  /** The process that last took the lock. */
  readonly pid: number
  constructor(pid: number) {
    super(`held by process ${pid}`)
    this.pid = pid
  }
}

/**
 * Takes the lock of the file until the returned function is called or the process ends. SQLite
 * holds it as an operating-system lock, so a killed owner leaves nothing to clean up. Throws
 * LockTakenError.
 */
export function takeLock(path: string): () => void {
  const file = new Database(path, { create: true })
  try {
    // The pid is committed first, because other processes can only read committed data.
    file.run('BEGIN IMMEDIATE')
    file.run(`PRAGMA user_version = ${process.pid}`)
    file.run('COMMIT')
    file.run('BEGIN IMMEDIATE')
  } catch (error) {
    const pid = file.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version
    file.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') throw new LockTakenError(pid ?? 0)
    throw error
  }
  return () => file.close()
}
