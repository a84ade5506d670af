import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import type { Finding, ToolCall } from '../_shared/command-pack.ts'
import { unwrapped } from '../_shared/json-text.ts'
import { judgeSql, type SqlDialect } from '../_shared/sql.ts'
import { identityWords, onServer } from '../_shared/tool-identity.ts'
import { toolVerb } from '../_shared/tool-verbs.ts'
import { wordSet } from '../_shared/word-lists.ts'
import { ruleOfHazard } from './rules.ts'
import { judgeElsewhere, judgeOwnCommands } from './tools-elsewhere.ts'

/** Words in the keys and aliases of database servers. */
const dialects: Readonly<Record<SqlDialect, ReadonlySet<string>>> = {
  postgres:
    wordSet(`postgres postgresql pg pgsql psql supabase neon timescale timescaledb cockroach cockroachdb
    alloydb redshift greenplum citus yugabyte crunchy pgvector pgbouncer pgadmin`),
  mysql: wordSet('mysql mariadb planetscale tidb percona vitess singlestore'),
  sqlite: wordSet('sqlite sqlite3 turso libsql'),
  duckdb: wordSet('duckdb motherduck'),
  bigquery: wordSet('bigquery bq'),
  any: wordSet(`db dbs database databases sql mssql sqlserver tsql oracle snowflake clickhouse databricks athena
    spanner cloudsql rds aurora trino presto dbhub warehouse synapse db2 firebird teradata vertica hana jdbc odbc
    sqlalchemy dolt rqlite d1 hive impala dremio starrocks doris redis valkey memcached elasticsearch opensearch
    qdrant chroma pinecone weaviate milvus neo4j cassandra scylla couchbase mongo prisma drizzle sequelize
    typeorm knex alembic flyway liquibase mongoose hasura`),
}
const all: ReadonlySet<string> = new Set(Object.values(dialects).flatMap((each) => [...each]))

/** Keys such as `postgresmain` or `mydb` mean a database too. */
const databaseName = /^(?:postgres|mariadb|duckdb|bigquery|snowflake|clickhouse)|sql|db$/

const destructive = wordSet(
  'drop truncate delete destroy purge wipe erase remove flush flushall flushdb nuke',
)
/** What a reset empties. */
const resetThings = wordSet('branch db database migrate migration migrations schema parent')
const rowThings = wordSet(
  'row rows record records data entry entries document documents item items many one',
)
/** Names of arguments with SQL, as words. */
const sqlNames = wordSet(
  'sql q query queries stmt statement statements ddl dml script migration command commands code cmd text input expression',
)
/** Names of arguments with a SQL file, as words. */
const fileNames = wordSet('file filename filepath path script_path uri url')
/** Bound or stored values are not SQL. */
const dataNames = wordSet(
  'params parameters parameter values bindings data row rows record records',
)
/** Arguments that wrap all others on some servers: data only next to SQL. */
const wrappers = wordSet('params parameters')
const knownNames = new Set([
  ...sqlNames,
  ...fileNames,
  ...wordSet('arguments request transaction raw'),
])
const limiting =
  /^(?:where|filter|filters|condition|conditions|criteria|pk|primary_key|key|keys|where_clause|(?:(?:row|record|entry|document|item)_)?ids?)$/
const conditions = /^(?:where|filter|condition|criteria)/

/** Judges a call of a tool on a database server. */
export function judgeTool(call: ToolCall): Finding | undefined {
  if (!onServer(call, isDatabase)) return judgeElsewhere(call)
  const name = identityWords(call.tool)
  // Searching the manual for DROP TABLE is harmless.
  if (name.includes('search') || name.includes('docs')) return undefined
  return (
    judgeName(call, name) ??
    judgeOwnCommands(call) ??
    judgeArguments(call.arguments, '$', dialectOf(call), 0)
  )
}

function isDatabase(word: string): boolean {
  return all.has(word) || databaseName.test(word)
}

function dialectOf(call: ToolCall): SqlDialect {
  const kinds = (['postgres', 'mysql', 'sqlite', 'duckdb', 'bigquery'] as const).filter((kind) =>
    onServer(call, (word) => dialects[kind].has(word)),
  )
  return kinds.length === 1 ? (kinds[0] ?? 'any') : 'any'
}

function judgeName(call: ToolCall, name: readonly string[]): Finding | undefined {
  const things = name.filter((word) => !all.has(word) || word === 'database')
  // Here a schema is an object, not a description.
  const told = things.at(-1) === 'schema' ? things.slice(0, -1) : things
  const verb = toolVerb(told, destructive)
  if (name.includes('reset') && name.some((word) => resetThings.has(word))) {
    return { ruleId: 'drop-tool', matchedField: 'tool' }
  }
  const rows = name.some((word) => rowThings.has(word))
  if (verb === 'destructive') {
    const bare = things.length === 1
    if ((rows || bare) && isLimited(call)) return undefined
    return { ruleId: rows ? 'delete-all' : 'drop-tool', matchedField: 'tool' }
  }
  if (things[0] === 'update' && rows && !isLimited(call)) {
    return { ruleId: 'update-all', matchedField: 'tool' }
  }
  return undefined
}

/** Whether a word of an argument's name means SQL. */
function holdsSql(word: string): boolean {
  return sqlNames.has(word) || word.startsWith('sql') || word.endsWith('sql')
}

/** Whether an argument selects rows. */
function isLimited(call: ToolCall): boolean {
  return Object.entries(call.arguments).some(([key, value]) => {
    const name = identityWords(key).join('_')
    if (!limiting.test(name)) return false
    if (typeof value === 'string') {
      // As an id, `5` is one row; as a condition it is true for all.
      if (!conditions.test(name) && /^[\w:.-]+$/.test(value)) return true
      return value.trim() !== '' && judgeSql(`DELETE FROM t WHERE ${value}`, 'any') === undefined
    }
    if (Array.isArray(value)) return value.length > 0
    return isJsonObject(value) ? Object.keys(value).length > 0 : typeof value === 'number'
  })
}

function judgeArguments(
  value: JsonValue,
  path: string,
  dialect: SqlDialect,
  depth: number,
): Finding | undefined {
  if (!isJsonObject(value) || depth > 4) return undefined
  const entries = Object.entries(value)
  const besideSql = entries.some(([key]) => identityWords(key).some(holdsSql))
  for (const [key, written] of entries) {
    if (written === undefined) continue
    const inside = unwrapped(written)
    const names = identityWords(key)
    const wraps = !besideSql && names.some((word) => wrappers.has(word))
    if (!wraps && names.some((word) => dataNames.has(word))) continue
    // Names that the model may have invented are not recorded.
    const here = `${path}.${names.every((word) => knownNames.has(word)) ? key : '*'}`
    if (
      typeof inside === 'string' &&
      names.some((word) => fileNames.has(word)) &&
      /\.sql$/i.test(inside)
    ) {
      return { ruleId: 'script-input', matchedField: here }
    }
    const finding = names.some(holdsSql)
      ? judgeValue(inside, here, dialect, depth)
      : judgeEach(inside, here, dialect, depth)
    if (finding !== undefined) return finding
  }
  return undefined
}

function judgeValue(
  value: JsonValue,
  path: string,
  dialect: SqlDialect,
  depth: number,
): Finding | undefined {
  if (typeof value === 'string') {
    const hazard = judgeSql(value, dialect)
    return hazard && { ruleId: ruleOfHazard[hazard], matchedField: path }
  }
  if (!Array.isArray(value)) return judgeArguments(value, path, dialect, depth + 1)
  for (const [i, each] of value.entries()) {
    const finding = judgeValue(each, `${path}[${i}]`, dialect, depth)
    if (finding !== undefined) return finding
  }
  return undefined
}

function judgeEach(
  value: JsonValue,
  path: string,
  dialect: SqlDialect,
  depth: number,
): Finding | undefined {
  if (!Array.isArray(value)) return judgeArguments(value, path, dialect, depth + 1)
  for (const [i, each] of value.entries()) {
    const finding = judgeArguments(each, `${path}[${i}]`, dialect, depth + 1)
    if (finding !== undefined) return finding
  }
  return undefined
}
