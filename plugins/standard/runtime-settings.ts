import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the runtime reads from the environment when it starts, never later. */
export const runtimeSettings = {
  /** Upstream calls at once; the runtime alone allows 256. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65000',
  // Freed memory goes back to the system after two seconds, and gaps in pages are looked for once a
  // second. The runtime does both several times as often, and a busy gateway needs that memory again
  // at once: giving it back and forth took a tenth of its CPU.
  MIMALLOC_PURGE_DELAY: '2000',
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000',
  // The engine lets garbage grow with the memory of the machine, most of all where that is more than
  // 16 GB. As on one of 512 MB, a busy gateway takes a fifth less memory, which is what the settings
  // above cost, and no more CPU.
  BUN_JSC_forceRAMSize: String(512 * 1024 * 1024),
  // The engine throws compiled code away that has not run for a quarter of a minute up to a minute.
  // Kinds of calls that come in bursts were compiled again for each of them, which took a fifth of
  // their CPU, at times a third. Kept, all code of the gateway takes some 10 MB.
  BUN_JSC_forceCodeBlockLiveness: '1',
}

/**
 * Options of Bun with which the working folder does not configure the gateway: Bun would take
 * variables from its `.env`, modules to run from its `bunfig.toml` and other places for modules from
 * its `tsconfig.json`. Without `node_modules` it would also get what a plugin's file imports from a
 * registry, under any name. A compiled program does none of this.
 */
const runtimeFlags = [
  '--no-install',
  '--no-env-file',
  '--config=/dev/null',
  '--tsconfig-override=/dev/null',
]
const VARIABLES_FILE = /^\.env(?:\.(?:development|production|test))?(?:\.local)?$/
const PROJECT = join(import.meta.dir, '../..')

/**
 * Replaces this process with one that is started as the gateway needs it, unless it is: with these
 * variables, where the operator's own values win, and without files of the working folder. The process
 * id stays. Throws when it cannot tell which variables come from such a file.
 */
export function useRuntimeSettings(
  env: Readonly<Record<string, string | undefined>>,
  settings: Readonly<Record<string, string>> = runtimeSettings,
): void {
  const files = filesThatBunRead()
  const isSet = Object.keys(settings).every((name) => env[name] !== undefined)
  if ((isSet && files.length === 0) || process.execve === undefined) return
  const given = files.some((file) => VARIABLES_FILE.test(file)) ? environmentAtStart() : env
  const options = process.execArgv.filter((flag) => !runtimeFlags.includes(flag))
  const program = Bun.isStandaloneExecutable ? [] : [...options, ...runtimeFlags, Bun.main]
  const args = [process.execPath, ...program, ...process.argv.slice(2)]
  process.execve(process.execPath, args, { ...settings, ...given } as NodeJS.ProcessEnv)
}

/** The gateway as it is started where no `PATH` and no working folder can say what runs. */
export function runningProgram(): readonly string[] {
  if (Bun.isStandaloneExecutable) return [process.execPath]
  return [process.execPath, ...runtimeFlags, Bun.main]
}

/** Files of the working folder by which Bun was configured. */
function filesThatBunRead(): readonly string[] {
  const isClosed = runtimeFlags.every((flag) => process.execArgv.includes(flag))
  if (Bun.isStandaloneExecutable || isClosed) return []
  const own = process.cwd() === PROJECT
  return readdirSync('.').filter(
    (name) => VARIABLES_FILE.test(name) || (name === 'bunfig.toml' && !own),
  )
}

/** The environment without what Bun has added from files. */
function environmentAtStart(): Readonly<Record<string, string | undefined>> {
  let text: string
  try {
    text = readFileSync('/proc/self/environ', 'utf8')
  } catch {
    throw new Error(
      'Bun has loaded the .env file of the working folder, which must not configure the gateway: start it with its command, or with bun --no-env-file',
    )
  }
  const entries = text.split('\0').filter(Boolean)
  return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s, 2)))
}
