import { mkdirSync, writeFileSync } from 'node:fs'
import { arch, cpus, platform } from 'node:os'
import { parseArgs } from 'node:util'
import { testServer } from '../test/harness/database.ts'
import { gates, verdicts } from './budgets.ts'
import { measureDatabase } from './database.ts'
import { startService } from './machine.ts'
import { packVerdicts } from './packs.ts'
import { measureRows } from './passes.ts'
import { printProfiles } from './profile.ts'
import { budgetTable, databaseLines, sampleTable } from './report.ts'
import { benchRows } from './rows.ts'

const RESULTS = new URL('./results/', import.meta.url).pathname
const USAGE = `bun bench/run.ts [--quick] [--gate] [--profile]

  --quick    fewer and shorter passes, no peers: a minute and a half
  --gate     exit code 1 when budget 1, 2 or 8 is missed
  --profile  no budgets: where the gateway's CPU time goes, function by function`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    gate: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

if (options.help) console.log(USAGE)
else if (platform() !== 'linux') throw new Error('CPU time is read from /proc: Linux only')
else {
  const server = await testServer()
  try {
    if (options.profile) await printProfiles(options.quick)
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
  // While nothing else of the bench runs.
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

  mkdirSync(RESULTS, { recursive: true })
  const file = `${RESULTS}${startedAt.toISOString().slice(0, 19).replaceAll(':', '')}Z.json`
  const machine = { cpu: cpus()[0]?.model, cores: cpus().length, arch: arch(), bun: Bun.version }
  const seconds = (Date.now() - startedAt.getTime()) / 1000
  const result = { startedAt, seconds, quick, machine, notes, verdicts: list, database, samples }
  writeFileSync(file, JSON.stringify(result, null, 1))
  console.log(`${Math.round(seconds)} s; ${file}`)
  return gate && list.some(({ budget, ok }) => gates.has(budget) && !ok) ? 1 : 0
}
