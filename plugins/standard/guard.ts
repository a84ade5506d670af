import { runGuardCommand } from '../guardrails/guard-command.ts'

/** `gateway guard`; resolves to its exit code. */
export function runGuard(args: readonly string[]): Promise<number> {
  return runGuardCommand({
    args,
    env: process.env,
    input: () => Bun.stdin.text(),
    out: (text) => void process.stdout.write(`${text}\n`),
    tell: (line) => void process.stderr.write(`${line}\n`),
    packs: async () => (await import('./local-packs.ts')).localPacks,
  })
}
