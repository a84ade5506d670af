import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardInput, GuardrailPack } from 'model-gateway/guardrail'
import { parse } from 'yaml'
import { cloudProviderA } from '../cloud-provider-a/index.ts'
import { cloudProviderB } from '../cloud-provider-b/index.ts'
import { coreFilesystem } from '../core-filesystem/index.ts'
import { coreGit } from '../core-git/index.ts'
import { coreShell } from '../core-shell/index.ts'
import { databaseSql } from '../database-sql/index.ts'
import { saasNotes } from '../saas-notes/index.ts'
import { cpuMs } from './__fixtures__/cpu-time.ts'
import { loadPostgresParser } from './sql.ts'

const packs: readonly GuardrailPack[] = [
  coreShell,
  coreGit,
  coreFilesystem,
  databaseSql,
  cloudProviderA,
  cloudProviderB,
  saasNotes,
]

await loadPostgresParser()

function evaluateAll(command: string): void {
  const input: GuardInput = { kind: 'command', phase: 'harness_pre_tool', command }
  for (const pack of packs) pack.evaluate(input)
}

function microseconds(run: () => void): number {
  const start = performance.now()
  run()
  return (performance.now() - start) * 1000
}

/** About 2 KiB of typical agent commands. */
const script = readFileSync(join(import.meta.dir, '__fixtures__/two-kib.sh'), 'utf8')

// The bounds are for an idle machine.
test('all packs judge a command of 2 KiB quickly', () => {
  for (let i = 0; i < 3000; i++) evaluateAll(script)
  const times = Array.from({ length: 400 }, () => microseconds(() => evaluateAll(script))).sort(
    (a, b) => a - b,
  )
  const median = times[200] ?? Number.NaN
  const p99 = times[396] ?? Number.NaN
  const quiet = times[20] ?? Number.NaN
  console.log(
    `seven packs, 2 KiB: quiet ${quiet.toFixed(0)} µs, median ${median.toFixed(0)} µs, p99 ${p99.toFixed(0)} µs`,
  )
  expect(script.length).toBeGreaterThanOrEqual(2048)
  expect(quiet).toBeLessThan(800)
})

test('all packs judge 10,000 mixed commands quickly', () => {
  const folder = join(import.meta.dir, '..')
  const commands: readonly string[] = readdirSync(folder)
    .filter((name) => name.startsWith('core-'))
    .flatMap((name) => parse(readFileSync(join(folder, name, 'cases.yaml'), 'utf8')))
    .map(({ input }: { input: unknown }) => input)
    .filter((input) => typeof input === 'string')
  const took = cpuMs(() => {
    for (let i = 0; i < 10_000; i++) evaluateAll(commands[i % commands.length] ?? '')
  })
  console.log(`seven packs, 10,000 commands: ${(took / 1000).toFixed(2)} s of CPU`)
  expect(took / 1000).toBeLessThan(2)
})
