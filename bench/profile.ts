import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runtimeSettings } from '../plugins/standard/runtime-settings.ts'
import { createTestDatabase } from '../test/harness/database.ts'
import { type Profile, startBenchGateway } from './gateways.ts'
import { startService, threadMicros } from './machine.ts'
import { measure, type Row, type Target } from './measure.ts'
import { benchRows, type RowId } from './rows.ts'

/** The cases, one process each. */
const cases: readonly (readonly [Profile, RowId])[] = [
  ['T', 'buffered'],
  ['T', 'stream'],
  ['G', 'buffered'],
  ['G', 'paced'],
  ['G', 'stream'],
  ['G', 'prompt'],
  ['G', 'mcp_ping'],
  ['G', 'mcp_call'],
]
const FUNCTIONS = 40
const FOLDERS = 12
const INTERVAL_MICROS = 250

/**
 * Prints where the gateway's CPU time goes: by thread, as measured, and by function, from the
 * sampling profiler of the engine. The profiler runs in a second process, because sampling costs
 * CPU.
 */
export async function printProfiles(quick: boolean): Promise<void> {
  const rows = benchRows(quick)
  const upstream = await startService('./upstream.ts')
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-profile-'))
  try {
    for (const [profile, id] of cases) {
      const row = rows[id]
      const under = { profile, row, upstreamUrl: upstream.url }
      const threads = await underLoad({ ...under, env: {} })
      const file = join(folder, `${profile}-${id}.cpuprofile`)
      const env = {
        // Without these variables the gateway starts itself again, which ends the profiler.
        ...runtimeSettings,
        BUN_OPTIONS: `--cpu-prof --cpu-prof-interval=${INTERVAL_MICROS} --cpu-prof-dir=${folder} --cpu-prof-name=${profile}-${id}.cpuprofile`,
      }
      const { from, to } = await underLoad({ ...under, env })
      const functions = selfShares(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile, from, to)

      const total = [...threads.micros.values()].reduce((sum, micros) => sum + micros, 0)
      console.log(`\n${profile}, ${row.title}: ${total.toFixed(0)} µs of CPU per request`)
      for (const [name, micros] of [...threads.micros].sort((a, b) => b[1] - a[1])) {
        if (micros >= 0.5) console.log(`  ${micros.toFixed(0).padStart(6)} µs  thread ${name}`)
      }
      console.log('  share of the samples in JavaScript and what it calls, by folder or package:')
      for (const [name, share] of byFolder(functions).slice(0, FOLDERS)) {
        console.log(`  ${(share * 100).toFixed(1).padStart(6)} %  ${name}`)
      }
      console.log('  by function:')
      for (const [name, share] of functions.slice(0, FUNCTIONS)) {
        console.log(`  ${(share * 100).toFixed(1).padStart(6)} %  ${name}`)
      }
    }
  } finally {
    await upstream.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface UnderLoad {
  /** CPU microseconds per request, by thread name. */
  readonly micros: ReadonlyMap<string, number>
  /** Begin and end of the load, in microseconds since 1970. */
  readonly from: number
  readonly to: number
}

async function underLoad(options: {
  readonly profile: Profile
  readonly row: Row
  readonly upstreamUrl: string
  readonly env: Readonly<Record<string, string>>
}): Promise<UnderLoad> {
  const { profile, row } = options
  const database = await createTestDatabase()
  const gateway = await startBenchGateway({ ...options, databaseUrl: database.url })
  try {
    const target: Target = { name: profile, ...gateway, settles: profile === 'G' }
    await measure({ ...row, count: row.warmUp }, target, 0, [])
    const before = threadMicros(gateway.pid)
    const from = Date.now() * 1000
    const load = { ...row, count: row.count * 2 }
    await measure(load, target, 0, [])
    const to = Date.now() * 1000
    const micros = new Map<string, number>()
    for (const [name, after] of threadMicros(gateway.pid)) {
      micros.set(name, (after - (before.get(name) ?? 0)) / load.count)
    }
    return { micros, from, to }
  } finally {
    await gateway.stop()
    await database.drop()
  }
}

/** The output of `--cpu-prof`: a tree of call frames, and the top frame of each sample. */
export interface CpuProfile {
  /** Microseconds since 1970. */
  readonly startTime: number
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: {
      readonly functionName: string
      readonly url: string
      /** Starts at 0. */
      readonly lineNumber: number
    }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  /** Microseconds since the previous sample, or since the start. */
  readonly timeDeltas: readonly number[]
}

/**
 * The functions at the top of the samples of a time span, with their share of these samples, the
 * largest first. A function of the engine is named together with its caller.
 */
export function selfShares(profile: CpuProfile, from: number, to: number): Shares {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map<number, number>()
  for (const { id, children = [] } of profile.nodes) {
    for (const child of children) parents.set(child, id)
  }
  function nameOf(id: number | undefined): string {
    const frame = id === undefined ? undefined : nodes.get(id)?.callFrame
    if (id === undefined || frame === undefined || frame.functionName === '(root)')
      return 'the engine'
    const name = frame.functionName || '(anonymous)'
    if (frame.url === '' || frame.lineNumber < 0) return `${name} ← ${nameOf(parents.get(id))}`
    return `${name} ${shortPath(frame.url)}:${frame.lineNumber + 1}`
  }
  const counts = new Map<string, number>()
  let taken = 0
  let at = profile.startTime
  for (const [i, id] of profile.samples.entries()) {
    at += profile.timeDeltas[i] ?? 0
    if (at < from || at > to) continue
    taken++
    const name = nameOf(id)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts]
    .map(([name, count]) => [name, count / taken] as const)
    .sort((a, b) => b[1] - a[1])
}

/** Shares of functions, summed by folder or package. */
export function byFolder(functions: Shares): Shares {
  const shares = new Map<string, number>()
  for (const [name, share] of functions) {
    const path = / ([^ ]+):\d+$/.exec(name)?.[1]
    // The first two names: `kernel/http`, `@scope/package`; one for other packages.
    const parts = path?.split('/') ?? []
    const isPackage = !/^(kernel|plugins|providers|@)/.test(path ?? '')
    const folder = path === undefined ? 'the engine' : parts.slice(0, isPackage ? 1 : 2).join('/')
    shares.set(folder, (shares.get(folder) ?? 0) + share)
  }
  return [...shares].sort((a, b) => b[1] - a[1])
}

/** Names and their shares of all samples, the largest first. */
type Shares = readonly (readonly [name: string, share: number])[]

const ROOT = new URL('..', import.meta.url).href

function shortPath(url: string): string {
  return url.replace(ROOT, '').replace(/^.*\/node_modules\//, '')
}
