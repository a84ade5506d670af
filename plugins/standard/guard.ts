import { REFUSED, runGuardCommand } from '../guardrails/guard-command.ts'
import { runningProgram, useRuntimeSettings } from './runtime-settings.ts'

/** Subcommands that set up hooks; no agent waits for them. */
const SETUP: ReadonlySet<string | undefined> = new Set(['install', 'uninstall', 'doctor'])

/** `gateway guard`; resolves to its exit code. */
export async function runGuard(args: readonly string[]): Promise<number> {
  try {
    useRuntimeSettings(process.env, {})
    if (SETUP.has(args[0])) return await setUpHooks(args)
    // Agents and shells may set proxy variables from files of the guarded folder, and `fetch` would
    // use them.
    for (const name of Object.keys(process.env)) {
      if (/^(?:https?|all|no)_proxy$/i.test(name)) delete process.env[name]
    }
    return await runGuardCommand({
      args,
      env: process.env,
      input: () => Bun.stdin.text(),
      out: (text) => void process.stdout.write(`${text}\n`),
      tell: (line) => void process.stderr.write(`${line}\n`),
      packs: async () => (await import('./local-packs.ts')).localPacks,
    })
  } catch (error) {
    process.stderr.write(`gateway guard: ${(error as Error).message}\n`)
    return REFUSED
  }
}

async function setUpHooks(args: readonly string[]): Promise<number> {
  const { homedir } = await import('node:os')
  const { runSetupCommand } = await import('../guardrails/hook-setup.ts')
  return await runSetupCommand({
    args,
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    program: runningProgram(),
    out: (line) => void process.stdout.write(`${line}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
  })
}
