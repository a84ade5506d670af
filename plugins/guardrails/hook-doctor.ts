import { existsSync, readFileSync } from 'node:fs'
import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { askGateway } from './guard-ask.ts'
import { type GuardOptions, readGuardOptions } from './guard-command.ts'
import type { Agent } from './hook-agents.ts'
import { codexDistrust } from './hook-codex-trust.ts'
import { missingProgram, wordsOf } from './hook-command.ts'
import { type FoundHook, findHooks, isSwitchedOff } from './hook-file.ts'
import { type HookPlace, type HookRun, runHook } from './hook-run.ts'

const HARMLESS = 'echo hello'
/** Commands that packs deny, one of each kind. They are only passed to the hook, never run. */
const FORBIDDEN = [
  'git reset --hard',
  'rm -rf /',
  'shutdown -h now',
  'psql -c "drop table users"',
  'gcloud projects delete example',
  'aws s3 rb s3://example --force',
]

export interface DoctorParts extends HookPlace {
  readonly out: (line: string) => void
}

/**
 * Whether the hooks in these files of an agent run, allow a harmless command and block a forbidden
 * one.
 */
export async function examine(
  agent: Agent,
  files: readonly string[],
  parts: DoctorParts,
): Promise<boolean> {
  const install = `Install it: gateway guard install ${agent.name}`
  let isFound = false
  let isFine = true
  const fails = (fault: string) => {
    isFine = false
    parts.out(`  FAIL  ${fault}`)
  }
  for (const file of files.filter((path) => existsSync(path))) {
    const text = readFileSync(file, 'utf8')
    let hooks: readonly FoundHook[] = []
    let fault: string | undefined
    try {
      hooks = findHooks(text, agent)
      const isOff = isSwitchedOff(text, agent)
      if (isOff) fault = `${agent.off?.path.join('.')} disables all hooks. Remove it.`
    } catch (error) {
      isFound = true
      fault = `${(error as Error).message}, so ${agent.name} ignores the file. Correct it.`
    }
    if (hooks.length > 0 || fault !== undefined) parts.out(file)
    if (fault !== undefined) fails(fault)
    for (const hook of hooks) {
      isFound = true
      for await (const { fault, fine } of examineHook(agent, file, hook, install, parts)) {
        if (fault === undefined) parts.out(`  ok    ${fine}`)
        else fails(fault)
      }
    }
  }
  if (!isFound) fails(`the hook is not in ${files.join(' or ')}. ${install}`)
  return isFine
}

/** The fault of a check, or the message if it is fine. */
interface Finding {
  readonly fault: string | undefined
  readonly fine: string
}

/** Stops at the first fault that makes further checks pointless. */
async function* examineHook(
  agent: Agent,
  file: string,
  hook: FoundHook,
  install: string,
  parts: DoctorParts,
): AsyncGenerator<Finding> {
  const words = wordsOf(hook.command)
  const missing = missingProgram(words)
  const gone = missing && `the program of the hook does not exist: ${missing}. ${install}`
  yield { fault: gone, fine: `installed: ${hook.command}` }
  if (gone !== undefined) return
  if (agent.name === 'codex') {
    yield { fault: await codexDistrust(file, hook, parts), fine: 'Codex trusts it' }
  }
  const passes = harmlessFault(await runHook(agent, hook.command, HARMLESS, parts))
  yield { fault: passes, fine: `a harmless command passes: ${HARMLESS}` }
  if (passes !== undefined) return
  const options = readGuardOptions(words.slice(words.indexOf('guard') + 1))
  const asked = await askItself(options, parts)
  if ('away' in asked && (options.whenAway === 'open' || options.mode === 'audit')) {
    const fault = `the hook has --when-away open or --mode audit, and gets no answer from the gateway: ${asked.away}`
    yield { fault, fine: '' }
    return
  }
  const { by, fault } = await blocked(agent, hook, parts)
  const why = by === undefined ? (fault ?? whyAllowed(asked)) : undefined
  yield { fault: why, fine: `a forbidden command is blocked: ${by}` }
}

function harmlessFault(run: HookRun): string | undefined {
  if (run.kind === 'allowed') return undefined
  if (run.kind === 'failed')
    return `the hook fails, and the agent may go on without it: ${run.what}`
  return `a harmless command (${HARMLESS}) is denied: ${run.reason}`
}

/** The first forbidden command that is blocked; else the failure of the hook, if it failed. */
async function blocked(
  agent: Agent,
  { command }: FoundHook,
  place: HookPlace,
): Promise<{ readonly by?: string; readonly fault?: string | undefined }> {
  for (const by of FORBIDDEN) {
    const run = await runHook(agent, command, by, place)
    if (run.kind === 'denied') return { by }
    if (run.kind === 'failed') return { fault: harmlessFault(run) }
  }
  return {}
}

/** Asks the gateway about a forbidden command directly, without the hook. */
function askItself(options: GuardOptions, { env }: HookPlace) {
  const call = JSON.stringify({ tool_name: 'Bash', command: FORBIDDEN[0] })
  return askGateway(call, undefined, options, env, (text) => dataIn(text) !== undefined)
}

/** Why a working hook allows commands that packs deny. */
function whyAllowed(asked: Awaited<ReturnType<typeof askGateway>>): string {
  const passes = `forbidden commands are not blocked, such as ${FORBIDDEN.slice(0, 3).join(', ')}`
  if ('away' in asked) return `${passes}, and asking the gateway from here fails: ${asked.away}`
  const { decision_id, action } = dataIn(asked.answer) ?? {}
  if (decision_id === null) {
    return `${passes}: no policy applies to this key. Enable guardrails.default in the gateway config, with mode: deny and packs.`
  }
  if (action === 'audit') {
    return `${passes}: the policy only records. Set guardrails.default.mode to deny in the gateway config.`
  }
  return `${passes}: the policy has no pack for them. Add packs such as core.git, core.filesystem and core.shell to guardrails.default in the gateway config.`
}

function dataIn(text: string): Readonly<Record<string, JsonValue | undefined>> | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: unknown }
    return isJsonObject(data) ? data : undefined
  } catch {
    return undefined
  }
}
