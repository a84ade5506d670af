import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardInput, GuardPhase, GuardrailPack } from 'model-gateway/guardrail'
import type { JsonObject } from 'model-gateway/plugin'
import { cloudProviderA } from '../cloud-provider-a/index.ts'
import { cloudProviderB } from '../cloud-provider-b/index.ts'
import { coreFilesystem } from '../core-filesystem/index.ts'
import { coreGit } from '../core-git/index.ts'
import { coreShell } from '../core-shell/index.ts'
import { databaseSql } from '../database-sql/index.ts'
import { saasNotes } from '../saas-notes/index.ts'
import { loadPostgresParser } from './sql.ts'

interface LabelledCase {
  readonly pack: string
  readonly phase: GuardPhase
  readonly command?: string
  readonly mcp?: { readonly server: string; readonly tool: string; readonly arguments: JsonObject }
  readonly expect: 'deny' | 'allow'
}

const packs: readonly GuardrailPack[] = [
  coreShell,
  coreGit,
  coreFilesystem,
  databaseSql,
  cloudProviderA,
  cloudProviderB,
  saasNotes,
]
const cases: readonly LabelledCase[] = lines('labelled-cases.jsonl').map((line) => JSON.parse(line))

interface FreshCase {
  readonly set: string
  /** Whether the packs document it; other cases are denied because a rule covers them. */
  readonly scope: boolean
  readonly command: string
}
/** Commands that once passed, one of each kind of bypass. */
const fresh: readonly FreshCase[] = lines('fresh-cases.jsonl').map((line) => JSON.parse(line))
const harmless = lines('harmless.txt')
  .filter((line) => !line.startsWith('#'))
  .map((line) => line.replaceAll('␤', '\n'))

function lines(name: string): readonly string[] {
  return readFileSync(join(import.meta.dir, '__fixtures__', name), 'utf8')
    .trim()
    .split('\n')
}

function isDenied(command: string): boolean {
  const input: GuardInput = { kind: 'command', phase: 'harness_pre_tool', command }
  return packs.some((pack) => pack.evaluate(input) !== undefined)
}

function inputOf({ phase, command, mcp }: LabelledCase): GuardInput {
  if (mcp === undefined) return { kind: 'command', phase, command: command ?? '' }
  const server = { key: mcp.server, aliases: [] }
  return { kind: 'tool_call', phase, server, tool: mcp.tool, arguments: mcp.arguments }
}

await loadPostgresParser()

test('judges the labelled cases, each with its pack', () => {
  const rows = packs.map((pack) => {
    const own = cases.filter((each) => each.pack === pack.id)
    const wrong = own.filter((each) => {
      const verdict = pack.evaluate(inputOf(each)) === undefined ? 'allow' : 'deny'
      return verdict !== each.expect
    })
    const share = (label: LabelledCase['expect']) => {
      const labelled = own.filter((each) => each.expect === label).length
      return (100 * (labelled - wrong.filter((each) => each.expect === label).length)) / labelled
    }
    return {
      pack: pack.id,
      cases: own.length,
      denied: share('deny'),
      allowed: share('allow'),
      wrong,
    }
  })
  console.table(rows.map(({ wrong, ...row }) => ({ ...row, wrong: wrong.length })))

  expect(rows.flatMap(({ wrong }) => wrong)).toEqual([])
  expect(rows.reduce((sum, row) => sum + row.cases, 0)).toBe(cases.length)
})

test('denies every command in scope that passed once', () => {
  const sets = Map.groupBy(fresh, ({ set, scope }) => `${set}${scope ? '' : ', out of scope'}`)
  console.table(
    [...sets].map(([set, rows]) => ({
      set,
      commands: rows.length,
      denied: (100 * rows.filter(({ command }) => isDenied(command)).length) / rows.length,
    })),
  )

  const passed = fresh.filter(({ scope, command }) => scope && !isDenied(command))
  expect(passed).toEqual([])
})

test('allows the everyday commands of coding agents', () => {
  expect(harmless.length).toBeGreaterThan(500)
  expect(harmless.filter(isDenied)).toEqual([])
})
