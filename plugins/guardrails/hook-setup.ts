import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { readGuardOptions } from './guard-command.ts'
import { setupCommands } from './guard-command-spec.ts'
import { type Agent, agents, type Env, type Scope } from './hook-agents.ts'
import { hookCommand } from './hook-command.ts'
import { examine } from './hook-doctor.ts'
import { withHook, withoutHook } from './hook-file.ts'

export interface SetupParts {
  /** `install codex --user`. */
  readonly args: readonly string[]
  readonly env: Env
  /** Both without symbolic links. */
  readonly cwd: string
  readonly home: string
  /** The running program and its arguments, as absolute paths. */
  readonly program: readonly string[]
  readonly out: (line: string) => void
  readonly tell: (line: string) => void
}

const USAGE_ERROR = 2
/** The maximum timeout: after it the agent stops waiting and allows the tool. */
const MAX_TIMEOUT_MS = 25_000
/** Options that `install` writes into the hook. */
const HOOK_OPTIONS = ['when-away', 'mode', 'timeout-ms', 'proxy', 'ca-file'] as const

/** `gateway guard install | uninstall | doctor`; resolves to the exit code. */
export async function runSetupCommand(parts: SetupParts): Promise<number> {
  const { args, tell } = parts
  const [verb = ''] = args
  try {
    const { agent, scope, print, options } = readArguments(args.slice(1), verb)
    const fileOf = (of: Scope) => agent.file(of, parts.cwd, parts.home, parts.env)
    if (verb === 'doctor') {
      const scopes: readonly Scope[] = scope === 'user' ? ['user'] : ['project', 'user']
      return (await examine(agent, scopes.map(fileOf), parts)) ? 0 : 1
    }
    const file = fileOf(scope)
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
    if (verb === 'uninstall') return uninstall(agent, file, before, print, parts)
    return install(agent, file, before, { print, options }, parts)
  } catch (error) {
    tell(`gateway guard ${verb}: ${(error as Error).message}`)
    const usage = setupCommands.find(({ name }) => name === `guard ${verb}`)?.usage
    tell(`usage: gateway guard ${verb} ${usage}`)
    return USAGE_ERROR
  }
}

function readArguments(args: readonly string[], verb: string) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      user: { type: 'boolean', default: false },
      ...(verb !== 'doctor' && { print: { type: 'boolean', default: false } }),
      ...(verb === 'install' &&
        Object.fromEntries(HOOK_OPTIONS.map((name) => [name, { type: 'string' } as const]))),
    },
  })
  const given = values as Readonly<Record<string, string | boolean | undefined>>
  const [name, ...more] = positionals
  const agent = agents.find((each) => each.name === name || each.format === name)
  if (agent === undefined || more.length > 0) {
    throw new Error(
      `exactly one agent is required, one of ${agents.map((each) => each.name).join(', ')}`,
    )
  }
  const options = HOOK_OPTIONS.flatMap((option) => {
    const value = given[option]
    return typeof value === 'string' ? [`--${option}`, value] : []
  })
  const { timeoutMs } = readGuardOptions(['--format', agent.format, ...options])
  if (timeoutMs > MAX_TIMEOUT_MS) {
    throw new Error(
      `--timeout-ms must be at most ${MAX_TIMEOUT_MS}, because ${agent.name} does not wait longer`,
    )
  }
  const scope: Scope = given.user === true ? 'user' : 'project'
  return { agent, scope, print: given.print === true, options }
}

function install(
  agent: Agent,
  file: string,
  before: string | undefined,
  { print, options }: { readonly print: boolean; readonly options: readonly string[] },
  { env, program, out, tell }: SetupParts,
): number {
  const command = hookCommand(program, agent, options)
  const after = inFile(file, () => withHook(before ?? '', agent, command))
  if (print) {
    tell(`${file} would be:`)
    out(after.trimEnd())
    return 0
  }
  if (after !== before) write(file, after)
  out(`${after === before ? 'Already installed' : 'Installed the hook'}: ${file}`)
  out(`  ${command}`)
  out(`Set these in the environment of ${agent.name}; they are not stored in this file:`)
  out(
    `  GATEWAY_URL      address of the gateway. Here: ${env.GATEWAY_URL || 'not set; default http://127.0.0.1:8080'}`,
  )
  out(
    `  GATEWAY_API_KEY  an API key of the gateway. Here: ${env.GATEWAY_API_KEY ? 'set' : 'not set'}`,
  )
  out(agent.next)
  out(`Then check it: gateway guard doctor ${agent.name}`)
  return 0
}

function uninstall(
  agent: Agent,
  file: string,
  before: string | undefined,
  print: boolean,
  { out, tell }: SetupParts,
): number {
  const after = before === undefined ? undefined : inFile(file, () => withoutHook(before, agent))
  if (print) {
    tell(`${file} would be${after === undefined ? ' removed' : ':'}`)
    if (after !== undefined) out(after.trimEnd())
    return 0
  }
  if (before === undefined || after === before) out(`No hook in ${file}`)
  else {
    if (after === undefined) rmSync(file)
    else write(file, after)
    out(`Removed the hook from ${file}`)
  }
  return 0
}

function inFile<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}; correct it first`)
  }
}

/** Writes atomically, follows symbolic links and keeps the file mode. */
function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  const isThere = existsSync(file)
  const path = isThere ? realpathSync(file) : file
  const draft = `${path}.${process.pid}.tmp`
  writeFileSync(draft, text, { mode: isThere ? statSync(path).mode & 0o777 : 0o644 })
  renameSync(draft, path)
}
