import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { leaveReserve } from './ledger-reserve.ts'
import { ownFile, type SpoolFile } from './spool-file.ts'
import { encodeRecords } from './spool-record.ts'

/** A file of this size is not written to any more until its records are released. */
const FULL_BYTES = 1024 * 1024
/** Room for what is added in a usual turn. */
const SCRATCH_BYTES = 64 * 1024

/** Records of what is in memory only, on the local disk, where they outlive this process. */
export interface WriteAhead {
  /** Resolves when the record is written, to where. Rejects when the disk does not take it. */
  add(record: string): Promise<HeldFile>
  /** Forgets one record of this file. */
  release(file: HeldFile): void
  /** Leaves what has not been released to the next process. */
  close(): Promise<void>
}

export interface HeldFile {
  readonly file: SpoolFile
  /** Records that are not released yet, and bytes of all since the file was empty. */
  held: number
  bytes: number
}

/**
 * Writes to two files in turn, so that one can become empty while the other is written. They are
 * files of the spool of this name: it takes them over when this process is gone. Nothing waits for
 * the disk itself, so that what is written outlives the process and not the machine. Beyond two full
 * files it leaves `reserve` bytes of the disk free.
 */
export function createWriteAhead(
  directory: string,
  name: string,
  reserve: () => number = () => 0,
): WriteAhead {
  let files: Promise<void> | undefined
  let current: HeldFile | undefined
  let other: HeldFile | undefined
  /** What is added in one turn goes to the file together. */
  let gathered: string[] = []
  let written: Promise<HeldFile> | undefined
  const scratch = Buffer.alloc(SCRATCH_BYTES)
  /** What is encoded is written at once, so that the next records can stand in the same place. */
  const room = (bytes: number) => (bytes > SCRATCH_BYTES ? Buffer.alloc(bytes) : scratch)

  async function newFile(): Promise<HeldFile> {
    const file = await ownFile(join(directory, `${name}-${Bun.randomUUIDv7()}.log`), 'new')
    if (file === undefined) throw new Error(`a new file in ${directory} is locked`)
    return { file, held: 0, bytes: 0 }
  }

  async function openFiles(): Promise<void> {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    current ??= await newFile()
    other ??= await newFile()
  }

  /** The file to write to. */
  function take(): HeldFile | undefined {
    if (current !== undefined && current.bytes >= FULL_BYTES && other?.held === 0) {
      ;[current, other] = [other, current]
    }
    return current
  }

  async function write(): Promise<HeldFile> {
    try {
      await files
      const used = take()
      if (used === undefined) throw new Error('the write-ahead files are closed')
      const bytes = encodeRecords(gathered, room)
      if (used.bytes >= FULL_BYTES) leaveReserve(directory, bytes.length, reserve())
      used.file.appendNow(bytes)
      used.bytes += bytes.length
      used.held += gathered.length
      return used
    } finally {
      gathered = []
      written = undefined
    }
  }

  return {
    add(record) {
      files ??= openFiles().catch((error: unknown) => {
        files = undefined
        throw error
      })
      gathered.push(record)
      written ??= write()
      return written
    },
    release(file) {
      file.held--
      if (file.held > 0) return
      try {
        file.file.clear()
        file.bytes = 0
      } catch {
        // What stays there is written once more, which changes nothing.
      }
    },
    async close() {
      await files?.catch(() => {})
      const both = [current, other]
      current = undefined
      for (const each of both) {
        if (each?.held === 0) await each.file.remove('delete')
        else await each?.file.close()
      }
    },
  }
}
