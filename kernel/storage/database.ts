import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres, { type Sql } from 'postgres'
import type { Database } from '../plugin/index.ts'
import { connectFailure } from './connect-failure.ts'
import { schemaName } from './schema-name.ts'
import { endSilent } from './silent-connections.ts'

/** Oldest server that is supported, as `server_version_num` counts. */
const OLDEST_VERSION = 140000
const POOL_SIZE = 10
const CONNECT_TIMEOUT_S = 5

/** A database that cannot be used; the message is for the operator and holds no password. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
}

export interface OpenDatabase {
  readonly sql: Sql
  /** Holds the password. */
  readonly url: string
  /** The `database` capability of a plugin, over the same pool. */
  forPlugin(pluginId: string): Database
  /** Ends connections that are gone without a word; see `endSilent`. */
  endSilent(ms: number): Promise<number>
  /** Waits up to five seconds for running queries; stops an embedded server. */
  close(): Promise<void>
}

/** A Postgres server that runs for this process. */
export interface DatabaseServer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts the gateway's own Postgres in a data directory. Its errors are for the operator. */
export type StartDatabase = (options: {
  readonly dataDir: string
  /** Use the one of a process that already runs it. */
  readonly attach?: boolean
  /** Gets what the server logs, line by line. */
  readonly log?: (line: string) => void
}) => Promise<DatabaseServer>

/**
 * Opens the Postgres at a URL, or the one that a function starts, which `close` then stops. Throws
 * DatabaseError.
 */
export async function openDatabase(
  source: string | (() => Promise<DatabaseServer>),
): Promise<OpenDatabase> {
  if (typeof source === 'string') return await connect({ url: source, stop: async () => {} })
  const server = await source().catch((error: Error) => {
    throw new DatabaseError(error.message, { cause: error })
  })
  try {
    return await connect(server)
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function connect({ url, stop }: DatabaseServer): Promise<OpenDatabase> {
  const { sql, drizzled } = createPool(url)
  try {
    await checkServer(sql, url)
  } catch (error) {
    await sql.end({ timeout: 0 })
    throw error
  }
  // The first connection has read the array types, for all.
  Object.assign(sql.options, { fetch_types: false })
  return {
    sql,
    url,
    forPlugin: (pluginId) => ({
      schema: schemaName(pluginId),
      sql,
      drizzle: drizzled,
      async listen(channel, notified, connected) {
        const { unlisten } = await sql.listen(channel, notified, connected)
        return unlisten
      },
    }),
    endSilent: (ms) => endSilent(sql, () => createPool(url, 1).sql, ms),
    async close() {
      await sql.end({ timeout: 5 })
      await stop()
    },
  }
}

/**
 * A pool whose values are: `bigint` → bigint, `numeric` → string, `timestamptz` → Date, `date` and
 * `timestamp` → string. A parameter of type JSON may be an object or a text that is JSON already.
 */
function createPool(url: string, max = POOL_SIZE): { sql: Sql; drizzled: PostgresJsDatabase } {
  checkUrl(url)
  const sql = postgres(url, {
    max,
    connect_timeout: CONNECT_TIMEOUT_S,
    // A server that comes back is noticed within a second.
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, 1),
    // Days are read as text, whatever form the database or the role has set for them.
    connection: { application_name: 'model-gateway', TimeZone: 'UTC', DateStyle: 'ISO, MDY' },
    onnotice: () => {},
    types: {
      bigint: {
        to: 20,
        from: [20],
        serialize: (value: bigint | number | string) => String(value),
        parse: (text: string) => BigInt(text),
      },
    },
  }) as unknown as Sql
  const { parsers, serializers } = sql.options
  const parseDate = parsers[TIMESTAMPTZ]
  const serializeDate = serializers[TIMESTAMPTZ]
  // drizzle switches the conversions of the pool it is given off; these two are wanted by both.
  const drizzled = drizzle(sql)
  if (parseDate !== undefined) parsers[TIMESTAMPTZ] = parseDate
  if (serializeDate !== undefined) serializers[TIMESTAMPTZ] = serializeDate
  for (const type of [JSON_TYPE, JSONB]) {
    serializers[type] = (value: unknown) =>
      typeof value === 'string' ? value : JSON.stringify(value)
  }
  return { sql, drizzled }
}

const TIMESTAMPTZ = 1184
const JSON_TYPE = 114
const JSONB = 3802

function checkUrl(url: string): void {
  if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new DatabaseError('database.url must look like postgres://user:password@host:5432/name')
  }
}

async function checkServer(sql: Sql, url: string): Promise<void> {
  const { host, pathname } = new URL(url)
  const where = `the database at ${host}${pathname}`
  let version: number
  let encoding: string | undefined
  let shared: boolean
  try {
    const [row] = await sql<{ version: string; encoding: string }[]>`
      select current_setting('server_version_num') as version,
        current_setting('server_encoding') as encoding`
    version = Number(row?.version)
    encoding = row?.encoding
    shared = await sharesSessions(sql)
  } catch (error) {
    throw new DatabaseError(`${where} cannot be used: ${connectFailure(error, url)}`)
  }
  if (!(version >= OLDEST_VERSION)) {
    throw new DatabaseError(
      `${where} is Postgres ${Math.floor(version / 10000)}; the gateway needs 14 or later`,
    )
  }
  // SQL_ASCII, which clusters have that were made without a locale, takes every character as well.
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII') {
    throw new DatabaseError(`${where} has the encoding ${encoding}; the gateway needs UTF8`)
  }
  if (shared) {
    throw new DatabaseError(
      `${where} is behind a transaction pooler, which does not support notifications and session locks; connect to the server itself or to a session pooler`,
    )
  }
}

/** Whether two connections that are both held come to one session. */
async function sharesSessions(sql: Sql): Promise<boolean> {
  const held = [await sql.reserve(), await sql.reserve()]
  try {
    const sessions = new Set<number>()
    for (const connection of held) {
      const [row] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`
      if (row !== undefined) sessions.add(row.pid)
    }
    return sessions.size < held.length
  } finally {
    for (const connection of held) connection.release()
  }
}
