import type { Agent, Env } from './hook-agents.ts'
import { denialIn, isAllowance } from './hooks.ts'

/** The result of a hook, as its agent interprets it. */
export type HookRun =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly reason: string }
  /** The hook failed, so the agent may allow the tool. */
  | { readonly kind: 'failed'; readonly what: string }

export interface HookPlace {
  readonly cwd: string
  readonly home: string
  readonly env: Env
}

const PATIENCE_MS = 30_000
/** Exit code by which a hook denies. */
const BLOCKS = 2

/** Runs a hook as its agent does before a shell command. */
export async function runHook(
  agent: Agent,
  hook: string,
  command: string,
  { cwd, env }: HookPlace,
): Promise<HookRun> {
  const child = Bun.spawn([...agent.shell(env), hook], {
    cwd,
    env: { ...env },
    stdin: new Blob([JSON.stringify(agent.call(command, cwd))]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: PATIENCE_MS,
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (child.signalCode !== null) return { kind: 'failed', what: 'it did not exit within 30 s' }
  const said = err.trim().slice(-500)
  if (code === BLOCKS && said !== '') return { kind: 'denied', reason: said }
  if (code !== 0) return { kind: 'failed', what: `it exited with code ${code}: ${said}` }
  const answer = out.trim()
  const reason = denialIn(agent.format, answer)
  if (reason !== undefined) return { kind: 'denied', reason }
  if (isAllowance(agent.format, answer)) return { kind: 'allowed' }
  return { kind: 'failed', what: 'it printed something that is not a hook answer' }
}
