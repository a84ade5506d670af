import { statfsSync } from 'node:fs'
import type { ConfigSnapshot } from 'model-gateway/host'
import { configSection, type Static, Type } from 'model-gateway/plugin'

const MIB = 1024 * 1024

/** The part of the accounting config that is needed here; another plugin owns it. */
const accounting = configSection(
  'accounting',
  Type.Object({ spool_reserve_mib: Type.Integer({ minimum: 0 }) }),
)

/** Disk space in bytes that is reserved for the ledger's spool; 0 without a ledger. */
export function ledgerReserve(snapshot: ConfigSnapshot): number {
  const section: Static<(typeof accounting)['schema']> | undefined = snapshot.section(accounting)
  return (section?.spool_reserve_mib ?? 0) * MIB
}

/** Throws if the folder's disk would have less than `reserve` bytes free after `bytes` more. */
export function leaveReserve(directory: string, bytes: number, reserve: number): void {
  if (reserve === 0) return
  const { bavail, bsize } = statfsSync(directory)
  const free = bavail * bsize
  if (free - bytes >= reserve) return
  throw new Error(
    `the disk of ${directory} has ${Math.floor(free / MIB)} MiB free, but ${Math.ceil(reserve / MIB)} MiB are reserved for the ledger (accounting.spool_reserve_mib)`,
  )
}
