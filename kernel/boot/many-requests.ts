/** How many upstream calls may run at once; the runtime alone allows 256. */
const AT_ONCE = '65000'
const VARIABLE = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

/**
 * Replaces this process with one that may run many upstream calls at once, unless it may already:
 * the runtime reads the limit when it starts, never later. The process id stays.
 */
export function allowManyRequests(env: Readonly<Record<string, string | undefined>>): void {
  if (env[VARIABLE] !== undefined || process.execve === undefined) return
  const program = Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main]
  const args = [process.execPath, ...program, ...process.argv.slice(2)]
  process.execve(process.execPath, args, { ...process.env, [VARIABLE]: AT_ONCE })
}
