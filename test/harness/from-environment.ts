import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createTestDatabase } from './database.ts'
import { eventually } from './gateway.ts'

const MAIN = new URL('../../plugins/standard/main.ts', import.meta.url).pathname

export interface StartedGateway {
  readonly url: string
  /** The API key that it printed. */
  readonly key: string
  readonly sql: Sql
  /** Resolves with the first match in what it prints, now or later. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** All that it printed so far. */
  out(): string
  signal(signal: NodeJS.Signals): void
  /** All that it logged so far. */
  log(): string
  stop(): Promise<number>
}

/** `gateway serve` in an empty folder, with nothing but these variables. */
export async function startFromEnvironment(
  env: Readonly<Record<string, string>>,
): Promise<StartedGateway> {
  const database = await createTestDatabase('started')
  const folder = mkdtempSync(join(tmpdir(), 'gateway-environment-'))
  chmodSync(folder, 0o711)
  const { PATH = '', HOME = '' } = process.env
  const child = Bun.spawn([process.execPath, MAIN], {
    cwd: folder,
    env: { PATH, HOME, DATABASE_URL: database.url, GATEWAY_BIND: '127.0.0.1:0', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, log] = [collect(child.stdout), collect(child.stderr)]
  const printed = (pattern: RegExp) =>
    eventually(async () => pattern.exec(out()) ?? undefined, 30_000)
  try {
    const [, key = ''] = await printed(/^API key +(gwk_\S+)$/m)
    const [, url = ''] = await printed(/^Console +(http\S+)\/console$/m)
    return {
      url,
      key,
      sql: database.sql,
      printed,
      out,
      log,
      signal: (name) => child.kill(name),
      async stop() {
        child.kill('SIGTERM')
        const code = await child.exited
        await database.drop()
        rmSync(folder, { recursive: true, force: true })
        return code
      },
    }
  } catch (error) {
    child.kill('SIGKILL')
    await database.drop()
    throw new Error(`${out()}\n${log()}`, { cause: error })
  }
}

function collect(stream: ReadableStream<Uint8Array>): () => string {
  let text = ''
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true })
  })()
  return () => text
}
