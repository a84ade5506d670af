import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { leaveReserve } from './ledger-reserve.ts'
import { ownFile, type SpoolFile } from './spool-file.ts'
import { encodeRecords } from './spool-record.ts'

/** Maximum number of records per call of `apply`. */
const GROUP = 500
/** Bytes that `probe` writes: more than a typical batch of records. */
const PROBE_BYTES = 256 * 1024

export interface SpoolOptions {
  /** Created if missing. Any number of processes may share it. */
  readonly directory: string
  /** Spools with different names do not see each other. */
  readonly name: string
  readonly log: Logger
  /** Disk space in bytes that appending leaves free. Default: none. */
  readonly reserve?: () => number
  /** Called with each record of an ended process that is taken over. */
  readonly adopted?: (record: string) => void
}

/** Records on the local disk that wait for an unreachable service. */
export interface Spool {
  /** Waiting records. */
  readonly depth: number
  /** Resolves when the records are safely on disk; rejects if that fails. */
  append(records: readonly string[]): Promise<void>
  /** Rejects if `append` would probably reject. */
  probe(): Promise<void>
  /** Takes over records of ended processes. */
  adopt(): Promise<void>
  /**
   * Passes all records, adopted ones first, to `apply`, in order and in groups, and deletes them
   * when it resolves. If it rejects, this rejects, and the next replay starts with the same group.
   * After a crash records may be repeated, so `apply` must be idempotent.
   */
  replay(apply: (records: readonly string[]) => Promise<void>): Promise<void>
  /** Leaves waiting records to the next process. */
  close(): Promise<void>
}

/** Does nothing until it is used. */
export function openSpool(options: SpoolOptions): Spool {
  const { directory, name, log, reserve = () => 0, adopted = () => {} } = options
  /** The file for appending. */
  let current: SpoolFile | undefined
  /** Files that only wait, oldest first. */
  const waiting: SpoolFile[] = []
  /** Files that could not be taken over, and how many of their records are reported. */
  let untakeable: ReadonlyMap<string, number> = new Map()
  let depth = 0
  let gathering: { readonly records: string[]; readonly done: Promise<void> } | undefined
  let replaying: Promise<void> | undefined

  /** Operations on `current` run one at a time. */
  let turn: Promise<unknown> = Promise.resolve()
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  /** The current file is full. */
  async function seal(): Promise<void> {
    const file = current
    current = undefined
    if (file === undefined) return
    if (file.count > 0) waiting.push(file)
    else await file.remove('delete')
  }

  const makeDirectory = () => mkdirSync(directory, { recursive: true, mode: 0o700 })

  /** Checked before encoding, because megabytes may be tried again and again. */
  function requireRoom(records: readonly string[]): void {
    if (reserve() === 0) return
    makeDirectory()
    const size = records.reduce((sum, record) => sum + record.length, 0)
    leaveReserve(directory, size, reserve())
  }

  async function write(bytes: Buffer): Promise<SpoolFile> {
    if (current === undefined) {
      makeDirectory()
      // Ids of this kind sort by time.
      current = await ownFile(join(directory, `${name}-${Bun.randomUUIDv7()}.log`), 'new')
      if (current === undefined) throw new Error(`a new file in ${directory} is locked`)
    }
    const file = current
    try {
      await file.append(bytes)
      return file
    } catch (error) {
      // After a failure it is unknown what the disk has beyond the safe records.
      await seal().catch((err: unknown) => log.warn({ err }, 'an ended process left a spool file'))
      throw error
    }
  }

  async function takeOver(file: SpoolFile): Promise<void> {
    const { path } = file
    let damage = 0
    for await (const { records, damaged } of file.read()) {
      damage += damaged
      for (const record of records) {
        if (file.count >= (untakeable.get(path) ?? 0)) adopted(record)
        file.count += 1
      }
    }
    if (file.count === 0 && damage === 0) {
      await file.remove('delete')
      return
    }
    depth += file.count
    log.info({ path, records: file.count }, 'took over spooled records of an ended process')
    waiting.push(file)
  }

  async function adopt(): Promise<void> {
    const mine = new Set([current, ...waiting].map((file) => file?.path))
    const pattern = new RegExp(`^${RegExp.escape(name)}-[0-9a-f-]{36}\\.log$`)
    const refused = new Map<string, number>()
    for (const entry of listFolder(directory).filter((found) => pattern.test(found))) {
      const path = join(directory, entry)
      if (mine.has(path)) continue
      let file: SpoolFile | undefined
      try {
        file = await ownFile(path, 'old')
        if (file !== undefined) await takeOver(file)
      } catch (err) {
        // It does not block other files, and may be readable next time, here or elsewhere.
        await file?.close()
        const before = untakeable.get(path)
        if (before === undefined) log.error({ err, path }, 'a spool file could not be taken over')
        refused.set(path, Math.max(file?.count ?? 0, before ?? 0))
      }
    }
    untakeable = refused
    waiting.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  async function replayFile(
    file: SpoolFile,
    apply: (records: readonly string[]) => Promise<void>,
  ): Promise<void> {
    let skip = file.applied
    let damaged = 0
    for await (const piece of file.read()) {
      damaged += piece.damaged
      const records = piece.records.slice(skip)
      skip = Math.max(0, skip - piece.records.length)
      for (let at = 0; at < records.length; at += GROUP) {
        const group = records.slice(at, at + GROUP)
        await apply(group)
        file.applied += group.length
        depth -= group.length
      }
    }
    // Counted records that became unreadable are not applied.
    depth -= file.count - file.applied
    file.count = file.applied
    if (damaged > 0) log.error({ path: file.path, damaged }, 'a spool file has damaged records')
    await file.remove(damaged > 0 ? 'keep' : 'delete')
    waiting.splice(waiting.indexOf(file), 1)
  }

  async function replayAll(apply: (records: readonly string[]) => Promise<void>): Promise<void> {
    await inTurn(async () => {
      await adopt()
      await seal()
    })
    for (let file = waiting[0]; file !== undefined; file = waiting[0]) await replayFile(file, apply)
  }

  return {
    get depth() {
      return depth
    },
    append(records) {
      if (gathering === undefined) {
        const batch: string[] = []
        const done = inTurn(async () => {
          gathering = undefined
          requireRoom(batch)
          const file = await write(encodeRecords(batch))
          file.count += batch.length
          depth += batch.length
        })
        gathering = { records: batch, done }
      }
      for (const record of records) gathering.records.push(record)
      return gathering.done
    },
    probe: () =>
      inTurn(async () => {
        // A separate file, because zeros before a record would look like damage.
        await seal()
        await write(Buffer.alloc(PROBE_BYTES))
        await seal()
      }),
    adopt: () => inTurn(adopt),
    replay(apply) {
      replaying ??= replayAll(apply).finally(() => {
        replaying = undefined
      })
      return replaying
    },
    async close() {
      await replaying?.catch(() => {})
      await inTurn(seal)
      for (const file of waiting.splice(0)) await file.close()
    },
  }
}

function listFolder(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return []
    throw error
  }
}
