import { mkdirSync, writeFileSync } from 'node:fs'
import { arch, cpus, platform } from 'node:os'
import { parseArgs } from 'node:util'
import { testServer } from '../test/harness/database.ts'
import { measureAgainst } from './against.ts'
import { gates, verdicts } from './budgets.ts'
import { measureDatabase } from './database.ts'
import { startService } from './machine.ts'
import { packVerdicts } from './packs.ts'
import { measureRows } from './passes.ts'
import { printProfiles } from './profile.ts'
import { budgetTable, comparisonTable, databaseLines, sampleTable } from './report.ts'
import { benchRows } from './rows.ts'

const RESULTS = new URL('./results/', import.meta.url).pathname
const USAGE = `bun bench/run.ts [--quick] [--gate] [--profile] [--against CHECKOUT]

  --quick    fewer and shorter passes, no peers: a minute and a half
  --gate     exit code 1 when budget 1, 2 or 8 is missed
  --profile  no budgets: where the gateway's CPU time goes, function by function
  --against  no budgets: CPU per request, compared with another checkout, whose packages must be
             installed; exit code 1 when a row is certainly more than 3 % slower`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    against: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (options.help) console.log(USAGE)
else if (platform() !== 'linux') throw new Error('CPU time is read from /proc: Linux only')
else {
  const server = await testServer()
  try {
    if (options.against !== undefined) process.exitCode = await against(options.against)
    else if (options.profile) await printProfiles(options.quick)
    else process.exitCode = await bench(options)
  } finally {
    await server.close()
  }
}

async function bench({ quick, gate }: { quick: boolean; gate: boolean }): Promise<number> {
  const notes: string[] = []
  const note = (text: string) => void notes.push(text)
  const startedAt = new Date()
  const passes = quick ? 2 : 5
  const rows = benchRows(quick)
  // First, while no other process of the bench runs.
  const packs = await packVerdicts(quick ? 1 : passes)
  const upstream = await startService('./upstream.ts')
  const samples = await measureRows({ passes, rows, upstream, withPeers: !quick, note })
  const database = await measureDatabase({ passes, quick, upstreamUrl: upstream.url })
  await upstream.stop()

  const list = [...verdicts(samples, database), ...packs]
  console.log(`\n${sampleTable(Object.values(rows), samples)}\n`)
  console.log(`${databaseLines(database)}\n`)
  console.log(`${budgetTable(list)}\n`)
  for (const text of notes) console.log(`note: ${text}`)

  save(startedAt, { quick, notes, verdicts: list, database, samples })
  return gate && list.some(({ budget, ok }) => gates.has(budget) && !ok) ? 1 : 0
}

async function against(checkout: string): Promise<number> {
  const startedAt = new Date()
  const result = await measureAgainst(checkout)
  console.log(`\n\n${comparisonTable('CPU µs', result.cpu)}\n`)
  console.log(`${comparisonTable('MiB', result.memory)}\n`)
  save(startedAt, { against: checkout, ...result })
  return result.cpu.some(({ exceeds }) => exceeds) ? 1 : 0
}

function save(startedAt: Date, figures: Readonly<Record<string, unknown>>): void {
  mkdirSync(RESULTS, { recursive: true })
  const file = `${RESULTS}${startedAt.toISOString().slice(0, 19).replaceAll(':', '')}Z.json`
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, arch: arch(), bun: Bun.version }
  const seconds = (Date.now() - startedAt.getTime()) / 1000
  writeFileSync(file, JSON.stringify({ startedAt, seconds, machine, ...figures }, null, 1))
  console.log(`${Math.round(seconds)} s; ${file}`)
}
