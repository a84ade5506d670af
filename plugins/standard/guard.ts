import { REFUSED, runGuardCommand } from '../guardrails/guard-command.ts'
import { useRuntimeSettings } from './runtime-settings.ts'

/** `gateway guard`; resolves to its exit code. */
export async function runGuard(args: readonly string[]): Promise<number> {
  try {
    useRuntimeSettings(process.env, {})
    // Agents and shells set them from files of the folder that is guarded; `fetch` would obey them.
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
