import { availableParallelism } from 'node:os'
import { createTestDatabase } from '../test/harness/database.ts'
import { startBenchGateway } from './gateways.ts'
import { confine, familyOf, type Service, startService } from './machine.ts'
import { loadGenerator, measure, type Row, type Sample, type Target } from './measure.ts'
import { startPeers } from './peers.ts'
import { mcpRows, type RowId } from './rows.ts'
import { governedCounts } from './truth.ts'

const PATH = '/v1/chat/completions'

/**
 * Measures all rows on all targets in interleaved passes, so that a disturbance of the machine
 * affects all of them. Calls `note` with facts that a reader of the numbers must know.
 */
export async function measureRows(options: {
  readonly passes: number
  readonly rows: Readonly<Record<RowId, Row>>
  readonly upstream: Service
  readonly withPeers: boolean
  readonly note: (text: string) => void
}): Promise<readonly Sample[]> {
  const { passes, rows, upstream, withPeers, note } = options
  const upstreamUrl = upstream.url
  await using started = new AsyncDisposableStack()
  async function reference(kind: 'json' | 'plain'): Promise<Target> {
    const service = await startService('./reference.ts', kind, upstreamUrl)
    started.defer(service.stop)
    return { name: kind, url: service.url + PATH, pid: service.pid }
  }
  async function gateway(profile: 'T' | 'G') {
    const database = await createTestDatabase()
    started.defer(database.drop)
    const running = await startBenchGateway({ profile, upstreamUrl, databaseUrl: database.url })
    started.defer(running.stop)
    const target: Target = { name: profile, ...running, settles: profile === 'G' }
    return { target, sql: database.sql }
  }

  const direct: Target = { name: 'direct', url: upstreamUrl + PATH, pid: process.pid }
  const json = await reference('json')
  const plain = await reference('plain')
  const { target: transparent } = await gateway('T')
  const { target: governed, sql } = await gateway('G')
  const peers: Target[] = []
  if (withPeers) {
    for (const peer of await startPeers(upstreamUrl, note)) {
      started.defer(peer.stop)
      peers.push({ ...peer, optional: true })
    }
  }

  const plan: readonly (readonly [RowId, readonly Target[]])[] = [
    ['buffered', [json, plain, transparent, governed, ...peers]],
    ['chosen', [governed]],
    ['paced', [json, transparent, governed]],
    ['stream', [json, transparent, governed, ...peers]],
    ['prompt', [json, transparent, governed]],
    ['alone', [direct, json, transparent, governed]],
    ['alone_stream', [direct, governed]],
    ['mcp_ping', [plain, governed]],
    ['mcp_call', [plain, governed]],
    ['mcp_events', [plain, governed]],
    ['mcp_ping_alone', [direct, plain, governed]],
    ['mcp_call_alone', [direct, plain, governed]],
  ]

  /** All processes that work while a row is measured, except the database. */
  const others = async (targets: readonly Target[]) => [
    upstream.pid,
    (await loadGenerator()).pid,
    ...targets.filter((target) => target !== direct).map(({ pid }) => pid),
  ]

  const samples: Sample[] = []
  /** Rows that a peer does not support. */
  const broken = new Set<string>()
  const sent = { inference: 0, toolCalls: 0 }
  let apart = true
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  // Pass 0 is the warm-up and is not counted.
  for (let pass = 0; pass <= passes; pass++) {
    process.stdout.write(pass === 0 ? 'warming up' : `, pass ${pass}`)
    const postgres = familyOf(backend?.pid ?? 0)
    for (const [id, targets] of plan) {
      const lone = rows[id].concurrency === 1
      if (lone) apart = share(postgres, await others(targets), 'apart') && apart
      for (const target of targets) {
        const row = rows[id]
        const load = pass === 0 ? { ...row, count: warmUpOf(row, target) } : row
        const label = `${id} ${target.name}`
        if (broken.has(label)) continue
        try {
          const sample = await measure(load, target, pass, target === governed ? postgres : [])
          if (pass > 0) samples.push(sample)
          if (target !== governed) continue
          if (mcpRows[id] === 'call') sent.toolCalls += load.count
          else if (mcpRows[id] === undefined) sent.inference += load.count
        } catch (error) {
          if (target.optional !== true) throw error
          broken.add(label)
          note(`the row was skipped: ${(error as Error).message}`)
        }
      }
      if (lone) share(postgres, await others(targets), 'together')
    }
  }
  if (!apart) note('requests at concurrency 1 shared the processors with the database')
  note(await governedCounts(sql, sent))
  return samples
}

/**
 * Gives the database one processor and all other processes the rest, as a database in operation has
 * its own machine. Otherwise a request at concurrency 1 waits for a processor whenever the database
 * writes rows of earlier requests. Returns false when the machine does not support it.
 */
function share(
  database: readonly number[],
  others: readonly number[],
  how: 'apart' | 'together',
): boolean {
  const last = availableParallelism() - 1
  if (last === 0) return false
  const all = `0-${last}`
  const both = [
    confine(database, how === 'apart' ? `${last}` : all),
    confine(others, how === 'apart' ? `0-${last - 1}` : all),
  ]
  return both.every(Boolean)
}

/**
 * Only our gateways need a long warm-up. References reach their speed soon; a slow peer would take
 * most of the run.
 */
function warmUpOf(row: Row, target: Target): number {
  return isGateway(target) ? row.warmUp : Math.min(row.warmUp, row.count)
}

function isGateway({ name }: Target): boolean {
  return name === 'T' || name === 'G'
}
