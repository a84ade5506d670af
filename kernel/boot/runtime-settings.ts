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
 * Replaces this process with one that has these settings, unless it has them, or others of the
 * operator's, already. The process id stays. The new one never gets modules from a registry: where
 * there is no `node_modules`, the runtime would get and run what a plugin's file imports, under any
 * name. A compiled program does not.
 */
export function useRuntimeSettings(env: Readonly<Record<string, string | undefined>>): void {
  const isSet = Object.keys(runtimeSettings).every((name) => env[name] !== undefined)
  if (isSet || process.execve === undefined) return
  const program = Bun.isStandaloneExecutable ? [] : ['--no-install', ...process.execArgv, Bun.main]
  const args = [process.execPath, ...program, ...process.argv.slice(2)]
  process.execve(process.execPath, args, { ...runtimeSettings, ...env } as NodeJS.ProcessEnv)
}
