import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres, { type Sql } from 'postgres'
import type { Database } from '../plugin/index.ts'
import { connectFailure } from './connect-failure.ts'
import { schemaName } from './schema-name.ts'
import { endSilent } from './silent-connections.ts'

/** Oldest supported server, in the format of `server_version_num`. */
const OLDEST_VERSION = 140000
const POOL_SIZE = 10
const CONNECT_TIMEOUT_S = 5

/** The database cannot be used; the message is for the operator and has no password. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
}

export interface OpenDatabase {
  readonly sql: Sql
  /** Contains the password. */
  readonly url: string
  /** The `database` capability of a plugin, over the same pool. */
  forPlugin(pluginId: string): Database
  /** Closes connections that no longer respond; see `endSilent`. */
  endSilent(ms: number): Promise<number>
  /** Waits up to five seconds for running queries; stops an embedded server. */
  close(): Promise<void>
}

/** A running Postgres server. */
export interface DatabaseServer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts the embedded Postgres in a data directory. Error messages are for the operator. */
export type StartDatabase = (options: {
  readonly dataDir: string
  /** Connect to the server of a process that already runs it. */
  readonly attach?: boolean
  /** Receives the log of the server, line by line. */
  readonly log?: (line: string) => void
}) => Promise<DatabaseServer>

/**
 * Connects to the Postgres at a URL, or to one that a function starts and `close` stops. Throws
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
  // The first connection has read the array types for all others.
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
 * A pool that maps `bigint` to bigint, `numeric` to string, `timestamptz` to Date, `date` and
 * `timestamp` to string. A JSON parameter may be an object or JSON text.
 */
function createPool(url: string, max = POOL_SIZE): { sql: Sql; drizzled: PostgresJsDatabase } {
  checkUrl(url)
  const sql = postgres(url, {
    max,
    connect_timeout: CONNECT_TIMEOUT_S,
    // Reconnects within a second after the server is back.
    backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, 1),
    // Dates are read as text, whatever format the database or role sets.
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
  // drizzle turns off conversions of the pool that it gets; both of these are needed.
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
  // SQL_ASCII, the encoding of clusters made without a locale, accepts every character too.
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII') {
    throw new DatabaseError(`${where} has the encoding ${encoding}; the gateway needs UTF8`)
  }
  if (shared) {
    throw new DatabaseError(
      `${where} is behind a transaction pooler, which does not support notifications and session locks; connect to the server itself or to a session pooler`,
    )
  }
}

/** Whether two held connections get the same session, as behind a transaction pooler. */
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
