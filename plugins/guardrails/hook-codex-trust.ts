import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { FoundHook } from './hook-file.ts'
import type { HookPlace } from './hook-run.ts'

const TRUST = 'Start Codex in this folder, open /hooks and trust the hook.'
const PATIENCE_MS = 20_000

/**
 * Why Codex does not run a hook in one of its files; undefined if it does. Codex trusts a hook by
 * the hash of its text, and runs only trusted hooks.
 */
export async function codexDistrust(
  file: string,
  hook: FoundHook,
  place: HookPlace,
): Promise<string | undefined> {
  const codex = Bun.which('codex', { PATH: place.env.PATH ?? '' })
  if (codex === null) return recordedDistrust(file, hook, place)
  const list = await listHooks(codex, place)
  if (list === undefined)
    return 'codex app-server does not report which hooks it trusts. Update Codex.'
  const real = realpathSync(file)
  const known = list.find(
    ({ sourcePath, command }) => command === hook.command && realOf(sourcePath) === real,
  )
  if (known === undefined) {
    return `Codex does not load the hook: it does not trust this folder, or [features] hooks = false is in its config.toml. ${TRUST}`
  }
  if (known.enabled === false) return 'The hook is disabled in Codex. Enable it in /hooks.'
  if (known.trustStatus === 'trusted' || known.trustStatus === 'managed') return undefined
  const what =
    known.trustStatus === 'modified' ? 'has changed since it was trusted' : 'is not trusted'
  return `The hook ${what}, and Codex does not run it. ${TRUST}`
}

function realOf(path: unknown): string | undefined {
  return typeof path === 'string' && existsSync(path) ? realpathSync(path) : undefined
}

/** The hooks that Codex would load in the folder, as codex app-server lists them. */
async function listHooks(
  codex: string,
  { cwd, env }: HookPlace,
): Promise<readonly JsonObject[] | undefined> {
  const child = Bun.spawn([codex, 'app-server'], {
    cwd,
    env: { ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: PATIENCE_MS,
  })
  try {
    const clientInfo = { name: 'gateway', title: 'gateway guard doctor', version: '1' }
    for (const message of [
      { id: 1, method: 'initialize', params: { clientInfo } },
      { method: 'initialized' },
      { id: 2, method: 'hooks/list', params: { cwds: [cwd] } },
    ]) {
      child.stdin.write(`${JSON.stringify(message)}\n`)
    }
    await child.stdin.flush()
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of child.stdout) {
      text += decoder.decode(bytes, { stream: true })
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const answer = JSON.parse(line) as { id?: unknown; result?: { data?: unknown } }
        if (answer.id !== 2) continue
        const data = answer.result?.data
        if (!Array.isArray(data)) return undefined
        return data.flatMap((entry) => (isJsonObject(entry) ? (entry.hooks as JsonObject[]) : []))
      }
    }
    return undefined
  } catch {
    return undefined
  } finally {
    child.kill()
    await child.exited
  }
}

/** The same, from the trust that Codex recorded in its config, which may be outdated. */
function recordedDistrust(file: string, { path }: FoundHook, { home, env }: HookPlace): string {
  const config = join(env.CODEX_HOME || join(home, '.codex'), 'config.toml')
  const key = `${file}:pre_tool_use:${path[2]}:${path[4]}`
  const hooks = existsSync(config) ? hooksIn(readFileSync(config, 'utf8')) : {}
  if (hooks.state?.[key]?.trusted_hash === undefined) {
    return `The hook is not trusted (it is missing in ${config}), and Codex does not run it. ${TRUST}`
  }
  return `Codex trusts a hook at this position, but codex is not in PATH, so it cannot confirm that it is this hook. ${TRUST}`
}

function hooksIn(toml: string): { state?: Record<string, { trusted_hash?: string }> } {
  try {
    return (Bun.TOML.parse(toml) as { hooks?: object }).hooks ?? {}
  } catch {
    // Codex itself does not start with an invalid config and reports it.
    return {}
  }
}
