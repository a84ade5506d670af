/** `focus-validator` of PyPI, each version with the rules that its package has. */
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ended } from '../../harness/ended.ts'

interface Validator {
  /** The Pythons that its dependencies have packages for. */
  readonly pythons: readonly string[]
  readonly arguments: readonly string[]
  /** The rules that failed. */
  readonly failed: RegExp
}

const VALIDATORS = {
  '1.0.0': {
    pythons: ['3.11', '3.12'],
    arguments: ['--validate-version', '1.0'],
    failed: /^(\w+) failed:$/gm,
  },
  '2.2.1': {
    pythons: ['3.12'],
    // Other rules than those of its package are on GitHub.
    arguments: [
      ...['--validate-version', '1.2', '--block-download'],
      ...['--applicability-criteria', 'ALL'],
    ],
    // Without the rules that only say that others of the list failed.
    failed: /^❌ ([\w-]+): FAIL {2}(?!.*failed child rules)/gm,
  },
} as const satisfies Record<string, Validator>

export type ValidatorVersion = keyof typeof VALIDATORS

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'model-gateway-focus')

/** Tells which rules a CSV file breaks, in order. */
type Validate = (file: string) => Promise<readonly string[]>

/** Installed once; undefined, with a printed line, without the Python for it or without PyPI. */
export async function focusValidator(version: ValidatorVersion): Promise<Validate | undefined> {
  const { pythons, arguments: options, failed }: Validator = VALIDATORS[version]
  const found = await pythonOf(pythons)
  if (found === undefined)
    return skipped(version, `there is no Python ${pythons.join(' or ')} with pip`)
  const { python, minor } = found
  const folder = join(CACHE, `${version}-python${minor}`)
  const problem = existsSync(folder) ? undefined : await install(python, version, folder)
  if (problem !== undefined) return skipped(version, problem)
  return async (file) => {
    const { out, err } = await run(
      [python, '-m', 'focus_validator.main', '--data-file', file, ...options],
      // It reads its currencies from a path that is relative to where it is installed.
      { cwd: folder, env: { ...process.env, LOG_LEVEL: 'ERROR' } },
    )
    const rules = Array.from(out.matchAll(failed), ([, rule]) => rule as string).sort()
    if (rules.length === 0) throw new Error(`focus-validator ${version}: ${out}${err}`.slice(-2000))
    return rules
  }
}

function skipped(version: string, why: string): undefined {
  console.log(`SKIPPED focus-validator ${version}: ${why}`)
}

/**
 * Its dependencies are all stated, because those that it brings by itself do not go together:
 * finopsfoundation/focus_validator#117, and pyarrow 23 wants NumPy 2.
 */
async function install(python: string, version: string, folder: string) {
  mkdirSync(CACHE, { recursive: true })
  const target = mkdtempSync(`${folder}-`)
  const requirements = join(import.meta.dir, `__fixtures__/focus-validator-${version}.txt`)
  const { err, code } = await run([
    ...[python, '-m', 'pip', 'install', '--quiet', '--root-user-action=ignore', '--no-deps'],
    ...['--no-compile', '--target', target, '--requirement', requirements],
  ])
  if (code === 0) renameSync(target, folder)
  else rmSync(target, { recursive: true, force: true })
  return code === 0 ? undefined : `pip failed: ${err.trim().slice(-500)}`
}

/** On the path, or one of pyenv's. */
async function pythonOf(wanted: readonly string[]) {
  const pyenv = process.env.PYENV_ROOT ?? join(homedir(), '.pyenv')
  for (const python of ['python3', ...globSync(join(pyenv, 'versions/3.*/bin/python3'))]) {
    if (Bun.which(python) === null) continue
    const { out } = await run([
      ...[python, '-c', 'import pip, sys; print("%d.%d" % sys.version_info[:2])'],
    ])
    if (wanted.includes(out.trim())) return { python, minor: out.trim() }
  }
  return undefined
}

const run = (command: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) =>
  ended(Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe', ...options }))
