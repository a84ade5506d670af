/** Coding agents as their registries have them. */
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ended } from '../harness/ended.ts'

interface Program {
  readonly from: 'npm' | 'pip'
  readonly name: string
  readonly version: string
  readonly command: string
}

const PROGRAMS = {
  claude: {
    from: 'npm',
    name: '@anthropic-ai/claude-code',
    version: '2.1.332',
    command: 'claude',
  },
  codex: { from: 'npm', name: '@openai/codex', version: '0.171.0', command: 'codex' },
  opencode: { from: 'npm', name: 'opencode-ai', version: '1.18.33', command: 'opencode' },
  gemini: { from: 'npm', name: '@google/gemini-cli', version: '0.61.0', command: 'gemini' },
  qwen: { from: 'npm', name: '@qwen-code/qwen-code', version: '0.24.4', command: 'qwen' },
  aider: { from: 'pip', name: 'aider-chat', version: '0.86.2', command: 'aider' },
} as const satisfies Record<string, Program>

export type AgentName = keyof typeof PROGRAMS

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'model-gateway-agents')

/** Longer than any of them takes to install. */
const LOCK_MS = 300_000

/**
 * The folder with the agent's command, installed once at its pinned version; undefined, with a
 * printed line, where the registry does not bring it.
 */
export async function installed(agent: AgentName): Promise<string | undefined> {
  const program: Program = PROGRAMS[agent]
  const folder = join(CACHE, `${agent}-${program.version}`)
  const complete = join(folder, '.complete')
  const bin = join(folder, program.from === 'npm' ? 'node_modules/.bin' : 'bin')
  mkdirSync(CACHE, { recursive: true })
  // Two files of tests may want the same one at the same time.
  const lock = `${folder}.lock`
  while (!existsSync(complete) && !locked(lock)) await Bun.sleep(200)
  if (existsSync(complete)) return bin
  try {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    const problem = await (program.from === 'npm' ? npmInstall : pipInstall)(folder, program)
    if (problem !== undefined) {
      console.log(`SKIPPED ${agent}: ${program.name}@${program.version}: ${problem}`)
      return undefined
    }
    writeFileSync(complete, '')
    return bin
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** Takes a lock; that of somebody who is gone does not count. */
function locked(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (Date.now() - since > LOCK_MS) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

async function npmInstall(folder: string, { name, version }: Program) {
  return await problemOf([
    ...['npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error'],
    `${name}@${version}`,
  ])
}

async function pipInstall(folder: string, { name, version }: Program) {
  return (
    (await problemOf(['python3', '-m', 'venv', folder])) ??
    (await problemOf([`${folder}/bin/pip`, 'install', '--quiet', `${name}==${version}`]))
  )
}

/** The end of what a failing command said. */
async function problemOf(command: readonly string[]): Promise<string | undefined> {
  if (Bun.which(command[0] as string) === null) return `there is no ${command[0]}`
  const { out, err, code } = await ended(
    Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe', env: process.env }),
  )
  return code === 0 ? undefined : `${command[0]} failed: ${(err || out).trim().slice(-500)}`
}

// Before the tests, beside what does not need them.
if (import.meta.main) {
  for (const agent of Object.keys(PROGRAMS) as AgentName[]) await installed(agent)
}
