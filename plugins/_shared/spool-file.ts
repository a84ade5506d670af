import { Database } from 'bun:sqlite'
import { chmodSync, existsSync, ftruncateSync, rmSync, writeSync } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { decodeRecords } from './spool-record.ts'

const READ_BYTES = 1024 * 1024
/** Owner only, because records name people and their actions. */
const OWNER_ONLY = 0o600

export interface SpoolFile {
  readonly path: string
  /** Records in it, and how many of them, from the start, are applied. */
  count: number
  applied: number
  /** Appends after the last valid byte and syncs the disk. */
  append(bytes: Buffer): Promise<void>
  /** Appends after the last valid byte without a sync: survives the process, not the machine. */
  appendNow(bytes: Buffer): void
  /** Removes all bytes. */
  clear(): void
  /** All records in order, in groups, with the damage before and within each group. */
  read(): AsyncIterable<{ readonly records: readonly string[]; readonly damaged: number }>
  /** Takes it out of the spool: deletes it, or keeps it for inspection. */
  remove(how: 'delete' | 'keep'): Promise<void>
  /** Leaves it to the next process. */
  close(): Promise<void>
}

/**
 * A file that this process owns while it runs: a new one or, if its process has ended, an old one.
 * Undefined if its owner is running, or the file no longer exists.
 *
 * The lock file exists before the file is created and until it is deleted, so a process that holds
 * the lock while the file exists is its only owner.
 */
export async function ownFile(path: string, kind: 'new' | 'old'): Promise<SpoolFile | undefined> {
  const lockPath = `${path}.lock`
  const unlock = tryLock(lockPath)
  if (unlock === undefined) return undefined
  if (kind === 'old' && !existsSync(path)) {
    rmSync(lockPath, { force: true })
    unlock()
    return undefined
  }
  let handle: FileHandle
  try {
    handle = await open(path, kind === 'new' ? 'wx+' : 'r+', OWNER_ONLY)
    if (kind === 'new') await syncFolder(path)
    // Files of earlier versions were readable by others. Files of another account cannot be
    // changed.
    else await handle.chmod(OWNER_ONLY).catch(() => {})
  } catch (error) {
    if (kind === 'new') {
      rmSync(path, { force: true })
      rmSync(lockPath, { force: true })
    }
    unlock()
    throw error
  }
  let size = (await handle.stat()).size

  return {
    path,
    count: 0,
    applied: 0,
    async append(bytes) {
      try {
        for (let at = 0; at < bytes.length; ) {
          at += (await handle.write(bytes, at, bytes.length - at, size + at)).bytesWritten
        }
        await handle.datasync()
      } catch (error) {
        await handle.truncate(size).catch(() => {})
        throw error
      }
      size += bytes.length
    },
    appendNow(bytes) {
      try {
        for (let at = 0; at < bytes.length; ) {
          at += writeSync(handle.fd, bytes, at, bytes.length - at, size + at)
        }
      } catch (error) {
        ftruncateSync(handle.fd, size)
        throw error
      }
      size += bytes.length
    },
    clear() {
      ftruncateSync(handle.fd, 0)
      size = 0
    },
    async *read() {
      let rest: Buffer = Buffer.alloc(0)
      for (let at = 0; ; ) {
        const buffer = Buffer.allocUnsafe(READ_BYTES)
        const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, at)
        at += bytesRead
        const piece = Buffer.concat([rest, buffer.subarray(0, bytesRead)])
        const { records, damaged, rest: left } = decodeRecords(piece, bytesRead === 0)
        yield { records, damaged }
        if (bytesRead === 0) return
        rest = left
      }
    },
    async remove(how) {
      // It may have been deleted by hand.
      if (existsSync(path)) {
        if (how === 'keep') await rename(path, `${path}.damaged`)
        else await unlink(path)
        await syncFolder(path)
      }
      await handle.close()
      rmSync(lockPath, { force: true })
      unlock()
    },
    async close() {
      await handle.close()
      unlock()
    },
  }
}

/**
 * Held until the returned function is called or the process ends in any way: SQLite's lock of the
 * operating system. Undefined if another process holds it.
 */
function tryLock(path: string): (() => void) | undefined {
  const file = new Database(path, { create: true })
  try {
    chmodSync(path, OWNER_ONLY)
    file.run('pragma journal_mode = memory')
    file.run('begin exclusive')
  } catch (error) {
    file.close()
    if ((error as { code?: string }).code === 'SQLITE_BUSY') return undefined
    throw error
  }
  return () => file.close()
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
