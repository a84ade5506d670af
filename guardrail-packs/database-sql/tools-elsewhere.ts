import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Finding, ToolCall } from '../_shared/command-pack.ts'
import { isCompleteSql, judgeSql } from '../_shared/sql.ts'
import { type Field, fieldsOf, isOn, listOf, textOf } from '../_shared/tool-fields.ts'
import { identityWords, onServer, ownName } from '../_shared/tool-identity.ts'
import { commandKeys, inputKeys, languageKeys, terminalWords } from '../_shared/tool-tables.ts'
import { wordSet } from '../_shared/word-lists.ts'
import { ruleOfHazard } from './rules.ts'

/** Words of tools that only inspect a statement, or search. */
const looking = wordSet(`
  analyze ask autocomplete check convert docs documentation explain fetch find format generate get grep
  help lint list parse preview read review search suggest translate validate web
`)
/** Words of tools that run statements. */
const running = wordSet('batch db exec execute psql query raw run sql statement transaction')
const sqlWords = wordSet('ddl dml sql')
const queryWords = wordSet('q queries query statement statements')
/** Objects that are dropped only in databases. */
const tables = wordSet('collection column database databases db index schema table tables view')
const databases = wordSet('database databases db schema')
const migrations = wordSet('database db migrate migration migrations schema')
const resetting = wordSet('drop flush fresh nuke refresh reset wipe')

const migrators = wordSet('alembic artisan django drizzle flyway laravel prisma rails rake')
const migrationCommand =
  /(?:^|\s)(?:migrate:(?:fresh|reset)|db:(?:drop|purge|reset|wipe)|migrate reset|sqlflush)\b/

function isMigrator(word: string): boolean {
  return migrators.has(word)
}

/**
 * Judges a tool of a server that is not known to be a database: by its name and by arguments that
 * read as SQL.
 */
export function judgeElsewhere(call: ToolCall): Finding | undefined {
  const words = identityWords(ownName(call.tool))
  if (words.some((word) => looking.has(word)) && !words.includes('execute')) return undefined
  if (dropsByName(words)) return { ruleId: 'drop-tool', matchedField: 'tool' }
  const fields = fieldsOf(call.arguments)
  const isCode = /^sql|sql$/i.test(textOf(fields, languageKeys) ?? '')
  const migrates = words.some(isMigrator) || onServer(call, isMigrator)
  for (const field of fields) {
    const { key, value } = field
    if (migrates && typeof value === 'string' && migrationCommand.test(value))
      return { ruleId: 'drop-tool', matchedField: `$.${key}` }
    const finding = isCode && key === 'code' ? judgeText(field, true) : judgeField(field, words)
    if (finding !== undefined) return finding
  }
  return undefined
}

function dropsByName(words: readonly string[]): boolean {
  const last = words.at(-1) ?? ''
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word))
  if (/^(?:drop|truncate)$/.test(words[0] ?? '') && tables.has(last)) return true
  if (/^(?:delete|destroy|wipe|purge)$/.test(words[0] ?? '') && databases.has(last)) return true
  return has(migrations) && has(resetting) && words.length <= 4
}

function judgeField(field: Field, tool: readonly string[]): Finding | undefined {
  const { key, words } = field
  const runs = tool.some((word) => running.has(word) || word.endsWith('sql'))
  const isSqlTool = tool.some((word) => word.endsWith('sql'))
  const types = tool.some((word) => terminalWords.has(word))
  const isSql = words.some((word) => sqlWords.has(word) || word.endsWith('sql'))
  if (isSql || (isSqlTool && inputKeys.has(key))) return judgeText(field, true)
  if (queryWords.has(words.at(-1) ?? '')) return judgeText(field, runs)
  // Typed text may go to the prompt of a database client.
  return types && (inputKeys.has(key) || commandKeys.has(key)) ? judgeText(field, false) : undefined
}

/** `known`: the text is SQL. Otherwise it may be anything, such as a search text. */
function judgeText({ key, value }: Field, known: boolean): Finding | undefined {
  for (const text of textsOf(value)) {
    const hazard = judgeSql(text, 'any')
    // Here, unreadable text need not be SQL.
    if (hazard === undefined || hazard === 'unreadable') continue
    if (known || isCompleteSql(text))
      return { ruleId: ruleOfHazard[hazard], matchedField: `$.${key}` }
  }
  return undefined
}

function textsOf(value: JsonValue): readonly string[] {
  return typeof value === 'string' ? [value] : (listOf(value) ?? [])
}

const mongoText =
  /\.(?:drop|dropDatabase|dropIndexes)\s*\(|\.(?:deleteMany|remove)\s*\(\s*(?:\{\s*\}\s*)?[,)]/
const redisText = /^\s*(?:flushall|flushdb)\b/i

/** Commands other than SQL: of Redis and MongoDB, and migration options that drop everything. */
export function judgeOwnCommands(call: ToolCall): Finding | undefined {
  const isKind = (kind: RegExp) => onServer(call, (word) => kind.test(word))
  const fields = fieldsOf(call.arguments)
  if (isOn(fields, 'force_reset', 'accept_data_loss', 'drop_schema', 'drop_database'))
    return { ruleId: 'drop-tool', matchedField: '$.*' }
  const isMongo = isKind(/^mongo/)
  const isRedis = isKind(/^(?:redis|valkey|keydb)$/)
  if (!isMongo && !isRedis) return undefined
  for (const { value } of fields) {
    const text = typeof value === 'string' ? value : Array.isArray(value) ? value.join(' ') : ''
    const drops =
      isMongo && isJsonObject(value) && Object.keys(value).some((key) => /^drop/.test(key))
    if (drops || (isMongo && mongoText.test(text)) || (isRedis && redisText.test(text)))
      return { ruleId: 'drop-tool', matchedField: '$.*' }
  }
  return undefined
}
