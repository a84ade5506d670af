import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { freePort } from './process.ts'

/** Of Debian's package; null where it is not installed. */
export const PGBOUNCER = Bun.which('pgbouncer', { PATH: `${process.env.PATH}:/usr/sbin` })

export interface Pooler {
  /** Leads to the same database by way of the pooler. */
  readonly url: string
  stop(): Promise<void>
}

/** A PgBouncer before the database, which hands its sessions out for as long as the mode says. */
export async function startPooler(
  database: string,
  mode: 'session' | 'transaction',
): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'pooler-'))
  const file = join(folder, 'pgbouncer.ini')
  const { hostname, port, username, password, pathname } = new URL(database)
  const url = new URL(database)
  url.port = String(freePort())
  writeFileSync(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = ${hostname}
listen_port = ${url.port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = extra_float_digits
`,
  )
  // It refuses to run as root.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chmodSync(folder, 0o755)
  const user = isRoot ? ['-u', 'nobody'] : []
  const child = Bun.spawn([PGBOUNCER ?? 'pgbouncer', '-q', ...user, file], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const stop = async () => {
    child.kill()
    await child.exited
    rmSync(folder, { recursive: true })
  }
  try {
    await answers(url.href)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: url.href, stop }
}

async function answers(url: string): Promise<void> {
  for (const deadline = performance.now() + 15_000; ; await Bun.sleep(20)) {
    const sql = postgres(url, { max: 1 })
    try {
      await sql`select 1`
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
    } finally {
      await sql.end({ timeout: 0 })
    }
  }
}
