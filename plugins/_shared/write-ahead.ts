import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { leaveReserve } from './ledger-reserve.ts'
import { ownFile, type SpoolFile } from './spool-file.ts'
import { encodeRecords } from './spool-record.ts'

/** A file of this size gets no more records until all are released. */
const FULL_BYTES = 1024 * 1024
/** Buffer size for the records of a typical turn. */
const SCRATCH_BYTES = 64 * 1024

/** Copies of in-memory records on the local disk, which survive this process. */
export interface WriteAhead {
  /** Resolves with the place of the written record. Rejects if the disk is full or fails. */
  add(record: string): Promise<HeldFile>
  /** Releases one record of this file. */
  release(file: HeldFile): void
  /** Leaves unreleased records to the next process. */
  close(): Promise<void>
}

export interface HeldFile {
  readonly file: SpoolFile
  /** Unreleased records, and bytes since the file was empty. */
  held: number
  bytes: number
}

/**
 * Writes to two files in turn, so that one can be emptied while the other is written. They are
 * files of the spool with this name, which takes them over when this process has ended. Without a
 * disk sync, so that records survive the process but not the machine. Beyond two full files it
 * leaves `reserve` bytes of the disk free.
 */
export function createWriteAhead(
  directory: string,
  name: string,
  reserve: () => number = () => 0,
): WriteAhead {
  let files: Promise<void> | undefined
  let current: HeldFile | undefined
  let other: HeldFile | undefined
  /** Records of one turn are written together. */
  let gathered: string[] = []
  let written: Promise<HeldFile> | undefined
  const scratch = Buffer.alloc(SCRATCH_BYTES)
  /** Encoded records are written at once, so that the buffer can be reused. */
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
        // Remaining records are written once more, which is harmless.
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
