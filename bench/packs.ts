import { readdirSync, readFileSync } from 'node:fs'
import type { GuardInput, GuardrailPack } from 'model-gateway/plugin'
import { parse } from 'yaml'
import { loadPostgresParser } from '../guardrail-packs/_shared/sql.ts'
import { cloudProviderA } from '../guardrail-packs/cloud-provider-a/index.ts'
import { cloudProviderB } from '../guardrail-packs/cloud-provider-b/index.ts'
import { coreFilesystem } from '../guardrail-packs/core-filesystem/index.ts'
import { coreGit } from '../guardrail-packs/core-git/index.ts'
import { coreShell } from '../guardrail-packs/core-shell/index.ts'
import { databaseSql } from '../guardrail-packs/database-sql/index.ts'
import { saasNotes } from '../guardrail-packs/saas-notes/index.ts'
import type { Verdict } from './budgets.ts'
import { spread } from './measure.ts'

const FOLDER = new URL('../guardrail-packs/', import.meta.url).pathname
/** Until then the engine is still compiling. */
const WARM_UP = 3000
const EVALUATIONS = 1000
const MIXED = 10_000

const packs: readonly GuardrailPack[] = [
  coreShell,
  coreGit,
  coreFilesystem,
  databaseSql,
  cloudProviderA,
  cloudProviderB,
  saasNotes,
]

/** Budget 10, in this process: all packs on a command of 2 KiB, and on the commands of their cases. */
export async function packVerdicts(passes: number): Promise<Verdict[]> {
  await loadPostgresParser()
  const script = readFileSync(`${FOLDER}_shared/__fixtures__/two-kib.sh`, 'utf8')
  const commands = caseCommands()
  // Both: what the engine has seen of unusual commands makes it slower on usual ones.
  for (let i = 0; i < WARM_UP; i++) {
    judge(script)
    judge(commands[i % commands.length] ?? '')
  }

  const medians: number[] = []
  const p99s: number[] = []
  const mixed: number[] = []
  for (let pass = 0; pass < passes; pass++) {
    const times = Array.from({ length: EVALUATIONS }, () => took(() => judge(script)))
    times.sort((a, b) => a - b)
    medians.push(times[EVALUATIONS / 2] ?? Number.NaN)
    p99s.push(times[EVALUATIONS * 0.99] ?? Number.NaN)
    mixed.push(
      took(() => {
        for (let i = 0; i < MIXED; i++) judge(commands[i % commands.length] ?? '')
      }),
    )
  }
  return [
    verdict('seven packs, command of 2 KiB, p50', medians, 0.15),
    verdict('seven packs, command of 2 KiB, p99', p99s, 1),
    verdict('seven packs, 10,000 mixed commands', mixed, 2000),
  ]
}

function verdict(title: string, values: readonly number[], limit: number): Verdict {
  const value = spread(values)
  return { budget: 10, title, unit: 'ms', limit, atMost: true, value, ok: value.median <= limit }
}

function judge(command: string): void {
  const input: GuardInput = { kind: 'command', phase: 'harness_pre_tool', command }
  for (const pack of packs) pack.evaluate(input)
}

/** Milliseconds. */
function took(run: () => void): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

/** The commands in the cases of all packs, in turn. */
function caseCommands(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name !== '_shared')
    .flatMap((name) => parse(readFileSync(`${FOLDER}${name}/cases.yaml`, 'utf8')))
    .map(({ input }: { input: unknown }) => input)
    .filter((input) => typeof input === 'string')
}
