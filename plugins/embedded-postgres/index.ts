import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Account, type Binaries, canReach, chooseAccount, findBinaries } from './binaries.ts'
import { LockTakenError, takeLock } from './lock.ts'
import { initialise, startServer, stopLeftover } from './server.ts'

const PASSWORD_FILE = 'postgres-password'

export interface EmbeddedPostgres {
  readonly url: string
  /** Shuts the server down cleanly and releases the data directory. */
  stop(): Promise<void>
}

/** Thrown when another process on this machine runs the database of this data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = 'DataDirectoryInUseError'
}

/**
 * Runs Postgres on `<dataDir>/postgres`, created on first use, on a random loopback port. The
 * server ends with this process, however it ends. Throws DataDirectoryInUseError.
 */
export async function startEmbedded(options: {
  readonly dataDir: string
  /** Receives the server's log, line by line. */
  readonly log?: ((line: string) => void) | undefined
  /** The directory for files that root's unprivileged Postgres could not reach otherwise. */
  readonly sharedRoot?: string
}): Promise<EmbeddedPostgres> {
  const { log = () => {}, sharedRoot = '/var/lib/model-gateway' } = options
  const home = resolve(options.dataDir)
  const isRoot = process.getuid?.() === 0
  // Root's Postgres runs as another account, which needs to traverse the directory but not to list
  // it.
  await mkdir(home, { recursive: true, mode: isRoot ? 0o711 : 0o700 })

  const link = join(home, 'postgres')
  const account = chooseAccount(ownerOf(link))
  const cluster = await placeCluster(home, link, account, sharedRoot)
  const unlock = lock(home, cluster)
  try {
    const binaries = await findBinaries(account, sharedRoot)
    const password = await readPassword(home, cluster)
    if (!existsSync(join(cluster, 'PG_VERSION'))) {
      await createCluster(binaries, cluster, password, account)
    }
    await stopLeftover(cluster)
    const server = await startServer({ binaries, cluster, account, log })
    const url = `postgres://gateway:${password}@127.0.0.1:${server.port}/postgres`
    await writePrivate(join(home, 'database-url'), `${url}\n`)
    return {
      url,
      async stop() {
        await server.stop()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/**
 * Opens the database of a gateway: `startEmbedded` or, with `attach`, the database of the process
 * that already runs it, which `stop` leaves running.
 */
export async function openEmbedded(options: {
  readonly dataDir: string
  readonly attach?: boolean
  readonly log?: (line: string) => void
}): Promise<EmbeddedPostgres> {
  const { dataDir, attach = false, log } = options
  try {
    return await startEmbedded({ dataDir, log })
  } catch (cause) {
    if (!(cause instanceof DataDirectoryInUseError)) {
      const { message } = cause as Error
      const what = `the database in the data directory ${dataDir} cannot be used: ${message}`
      throw new Error(what, { cause })
    }
    if (!attach) throw cause
    const url = readFileSync(join(dataDir, 'database-url'), 'utf8').trim()
    return { url, stop: async () => {} }
  }
}

/** Owner of the cluster. Throws if it is another user and this process cannot switch to it. */
function ownerOf(path: string): Account {
  const entry = statSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return undefined
  const self = process.getuid?.()
  if (self !== 0 && self !== entry.uid) {
    throw new Error(
      `the database in ${path} belongs to another user (uid ${entry.uid}): run the gateway as that user, or choose another --data-dir`,
    )
  }
  return { uid: entry.uid, gid: entry.gid }
}

/**
 * The directory of the cluster: `<dataDir>/postgres` itself, or the target of that link if the
 * account cannot reach the data directory, as under root's home.
 */
async function placeCluster(
  home: string,
  link: string,
  account: Account,
  sharedRoot: string,
): Promise<string> {
  const entry = lstatSync(link, { throwIfNoEntry: false })
  if (entry?.isSymbolicLink()) return followLink(home, link)
  if (entry !== undefined || (await canReach(account, home))) {
    return join(realpathSync(home), 'postgres')
  }
  await mkdir(sharedRoot, { recursive: true, mode: 0o755 })
  try {
    await symlink(join(sharedRoot, `data-${randomUUID()}`), link)
  } catch (error) {
    // Another gateway is starting at the same time; the lock decides.
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
  return followLink(home, link)
}

function followLink(home: string, link: string): string {
  const target = resolve(home, readlinkSync(link))
  if (!existsSync(target) && existsSync(join(home, PASSWORD_FILE))) {
    throw new Error(
      `${link} points to ${target}, but the database is missing there: restore it, or remove ${link} to start with an empty one`,
    )
  }
  return target
}

/**
 * The lock file is next to the cluster, so that two data directories that share a cluster share the
 * lock.
 */
function lock(home: string, cluster: string): () => void {
  try {
    return takeLock(`${cluster}.lock`)
  } catch (error) {
    if (!(error instanceof LockTakenError)) throw error
    throw new DataDirectoryInUseError(
      `another gateway (process ${error.pid}) is running on the data directory ${home}: stop it, choose another --data-dir, or set database.url so that both share one Postgres`,
    )
  }
}

async function readPassword(home: string, cluster: string): Promise<string> {
  const path = join(home, PASSWORD_FILE)
  if (existsSync(path)) return (await readFile(path, 'utf8')).trim()
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    throw new Error(
      `${path} is missing, and the database in ${cluster} cannot be opened without it`,
    )
  }
  const password = randomBytes(24).toString('base64url')
  await writePrivate(path, `${password}\n`)
  return password
}

async function writePrivate(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 })
  await chmod(path, 0o600)
}

/** Creates the cluster in a temporary directory and renames it when it is complete. */
async function createCluster(
  binaries: Binaries,
  cluster: string,
  password: string,
  account: Account,
): Promise<void> {
  const workshop = `${cluster}.new`
  await rm(workshop, { recursive: true, force: true })
  await mkdir(workshop, { mode: 0o700 })
  const passwordFile = join(workshop, 'password')
  await writePrivate(passwordFile, `${password}\n`)
  if (account !== undefined) {
    await chown(workshop, account.uid, account.gid)
    await chown(passwordFile, account.uid, account.gid)
  }
  await initialise(binaries.initdb, join(workshop, 'data'), passwordFile, account)
  await rename(join(workshop, 'data'), cluster)
  await rm(workshop, { recursive: true, force: true })
}
