import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardInput, GuardPhase, GuardrailPack, JsonObject } from 'model-gateway/plugin'
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
const cases: readonly LabelledCase[] = readFileSync(
  join(import.meta.dir, '__fixtures__/labelled-cases.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

function inputOf({ phase, command, mcp }: LabelledCase): GuardInput {
  if (mcp === undefined) return { kind: 'command', phase, command: command ?? '' }
  const server = { key: mcp.server, aliases: [] }
  return { kind: 'tool_call', phase, server, tool: mcp.tool, arguments: mcp.arguments }
}

await loadPostgresParser()

test('judges the labelled cases, each with its own pack', () => {
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
