import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardInput } from 'model-gateway/guardrail'
import type { JsonObject } from 'model-gateway/plugin'
import { cloudProviderA } from '../cloud-provider-a/index.ts'
import { cloudProviderB } from '../cloud-provider-b/index.ts'
import { coreFilesystem } from '../core-filesystem/index.ts'
import { coreGit } from '../core-git/index.ts'
import { coreShell } from '../core-shell/index.ts'
import { databaseSql } from '../database-sql/index.ts'
import { saasNotes } from '../saas-notes/index.ts'
import { loadPostgresParser } from './sql.ts'

interface LabelledCall {
  readonly tool: string
  readonly server?: string
  readonly arguments: JsonObject
  readonly expect: 'deny' | 'allow'
}

const packs = [
  coreShell,
  coreGit,
  coreFilesystem,
  databaseSql,
  cloudProviderA,
  cloudProviderB,
  saasNotes,
]

function verdictOn(call: Omit<LabelledCall, 'expect'>): LabelledCall['expect'] {
  const input: GuardInput = {
    kind: 'tool_call',
    phase: 'harness_pre_tool',
    server: call.server === undefined ? undefined : { key: call.server, aliases: [] },
    tool: call.tool,
    arguments: call.arguments,
  }
  return packs.some((pack) => pack.evaluate(input) !== undefined) ? 'deny' : 'allow'
}

await loadPostgresParser()

test.each(['denied', 'harmless'])('judges the %s tool calls by all packs', (file) => {
  const path = join(import.meta.dir, `__fixtures__/${file}-tool-calls.jsonl`)
  const calls: LabelledCall[] = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(calls.filter((call) => verdictOn(call) !== call.expect)).toEqual([])
})

test('a command behind many other arguments is judged', () => {
  const others = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`a${at}`, at]))
  const given = (args: JsonObject) => verdictOn({ tool: 'Bash', arguments: args })
  expect(given({ ...others, command: 'rm -rf /srv' })).toBe('deny')
  expect(given({ ...others, command: 'ls' })).toBe('allow')
  expect(given({ params: { input: { options: { command: 'rm -rf /srv' } } } })).toBe('deny')
})
