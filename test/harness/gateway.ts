import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { pino } from 'pino'
import type { Sql } from 'postgres'
import { stringify } from 'yaml'
import { type Gateway, startGateway } from '../../kernel/boot/start.ts'
import type { GateOptions } from '../../kernel/egress/gate.ts'
import { openEmbedded } from '../../plugins/embedded-postgres/index.ts'
import { builtins, providedBy } from '../../plugins/standard/builtins.ts'
import { createTestDatabase } from './database.ts'

export interface TestGateway extends Gateway {
  readonly sql: Sql
  readonly databaseUrl: string
  /** Every line that the gateway logged, parsed. */
  readonly logs: readonly Record<string, unknown>[]
  /** An official client of this gateway. */
  openai(key: string): OpenAI
  /** Sends the body unchanged, with the key of Ada unless `headers` has one. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
}

/** The same name always gives the same, well-formed API key. */
export function testKey(name: string): string {
  const digest = createHash('sha256').update(name).digest()
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  const publicId = [...digest.subarray(0, 16)].map((byte) => alphabet[byte % 32]).join('')
  return `gwk_${publicId}.${digest.toString('base64url')}`
}

export const adaKey = testKey('ada')

/** One user, `ada@example.com`, whose key may use every model. */
export const ada = {
  name: 'Ada',
  email: 'ada@example.com',
  api_keys: [{ name: 'test', value: `literal.${adaKey}`, all_models: true }],
}

export interface TestGatewayOptions {
  /** Use this database instead of a new one, and leave it there. */
  readonly databaseUrl?: string
  /** How host names of untrusted URLs are resolved. */
  readonly outbound?: GateOptions
}

/**
 * A whole gateway in this process: every built-in plugin, its own Postgres database, a real
 * socket. `config` is the config file as an object; `users` defaults to Ada.
 */
export async function startTestGateway(
  config: Record<string, unknown>,
  options: TestGatewayOptions = {},
): Promise<TestGateway> {
  const database =
    options.databaseUrl === undefined ? await createTestDatabase('started') : undefined
  const databaseUrl = options.databaseUrl ?? (database as { url: string }).url
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-data-'))
  const logs: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: (line) => logs.push(JSON.parse(line)) })
  const text = stringify({
    users: [ada],
    ...config,
    server: { bind: '127.0.0.1:0', ...(config.server as object | undefined) },
    database: { url: `literal.${databaseUrl}` },
  })
  const gateway = await startGateway({
    source: { text, file: join(dataDir, 'gateway.yaml') },
    builtins,
    providedBy,
    startDatabase: openEmbedded,
    dataDir,
    env: {},
    log,
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
  })
  const { default: postgres } = await import('postgres')
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
  return {
    ...gateway,
    sql,
    databaseUrl,
    logs,
    openai: (key) =>
      new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0, timeout: 60_000 }),
    post: (path, body, headers = {}) =>
      fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adaKey}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async stop() {
      await gateway.stop()
      await sql.end({ timeout: 5 })
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Calls `look` until it returns a value, and returns that. Throws after `withinMs`. */
export async function eventually<T>(
  look: () => Promise<T | undefined>,
  withinMs = 5000,
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline)
      throw new Error(`the condition was not met within ${withinMs} ms: ${look}`)
    await Bun.sleep(20)
  }
}
