import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Variables that the runtime reads only when it starts. */
export const runtimeSettings = {
  /** Maximum concurrent upstream calls; the runtime's default is 256. */
  BUN_CONFIG_MAX_HTTP_REQUESTS: '65000',
  // Returns freed memory to the system after two seconds, and looks for free pages once a second.
  // The defaults are several times as frequent, and a busy gateway needs the memory again at once:
  // that took a tenth of its CPU.
  MIMALLOC_PURGE_DELAY: '2000',
  MIMALLOC_PURGE_HOLES_MIN_INTERVAL: '1000',
  // Treats the machine as one with 512 MB, because the engine collects less garbage on larger
  // machines, most of all above 16 GB. A busy gateway uses a fifth less memory this way, which
  // offsets the settings above, without more CPU.
  BUN_JSC_forceRAMSize: String(512 * 1024 * 1024),
  // Keeps compiled code, which the engine discards after 15 to 60 seconds without use. Bursts of
  // calls had to compile it again, which took a fifth to a third of their CPU. All code of the
  // gateway takes about 10 MB.
  BUN_JSC_forceCodeBlockLiveness: '1',
}

/**
 * Bun options that stop the working folder from configuring the gateway: Bun would read variables
 * from `.env`, preloads from `bunfig.toml` and module paths from `tsconfig.json`. Without
 * `node_modules` it would also install what a plugin's file imports from a registry, under any
 * name. A compiled program does none of this.
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
 * Restarts this process in place, with the same process id, unless it already runs with these
 * variables and without files of the working folder. Values of the operator win. Throws if it
 * cannot tell which variables came from such a file.
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

/** The command that starts the gateway, independent of `PATH` and the working folder. */
export function runningProgram(): readonly string[] {
  if (Bun.isStandaloneExecutable) return [process.execPath]
  return [process.execPath, ...runtimeFlags, Bun.main]
}

/** Files of the working folder that Bun has read. */
function filesThatBunRead(): readonly string[] {
  const isClosed = runtimeFlags.every((flag) => process.execArgv.includes(flag))
  if (Bun.isStandaloneExecutable || isClosed) return []
  const own = process.cwd() === PROJECT
  return readdirSync('.').filter(
    (name) => VARIABLES_FILE.test(name) || (name === 'bunfig.toml' && !own),
  )
}

/** The environment without the variables that Bun read from files. */
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
