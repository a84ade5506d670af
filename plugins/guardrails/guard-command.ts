import { readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { parseArgs } from 'node:util'
import type { PackMatch } from 'model-gateway/guardrail'
import { parseArguments } from './content.ts'
// Import only types here, because the agent waits for this command: it must start fast.
import type { GuardInput, GuardrailPack } from './contract.ts'
import { type AskOptions, askGateway } from './guard-ask.ts'
import { guardCommand } from './guard-command-spec.ts'
import {
  type HookCall,
  type HookFormat,
  hookAnswer,
  hookFormats,
  isHookAnswer,
  readHook,
} from './hooks.ts'

export interface GuardCommandParts {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** The agent's JSON. */
  readonly input: () => Promise<string>
  readonly out: (text: string) => void
  /** Prints for the user at the terminal; must not contain the judged call. */
  readonly tell: (line: string) => void
  /** For when the gateway is away. */
  readonly packs: () => Promise<LocalPacks>
}

/** The packs of this installation. */
export interface LocalPacks {
  readonly packs: readonly GuardrailPack[]
  /** Loads data that only few calls need. Without it, packs throw for those calls. */
  readonly prepare: () => Promise<void>
}

export interface GuardOptions extends AskOptions {
  readonly format: HookFormat
  readonly whenAway: 'closed' | 'open'
  readonly mode: 'deny' | 'audit'
}

/** Exit code of a guard that cannot answer; agents then do not use the tool. */
export const REFUSED = 2

/** Answers one hook; resolves to the exit code. */
export async function runGuardCommand(parts: GuardCommandParts): Promise<number> {
  const { out, tell } = parts
  let options: GuardOptions
  try {
    options = readGuardOptions(parts.args)
  } catch (error) {
    tell(`gateway guard: ${(error as Error).message}`)
    tell(`usage: gateway guard ${guardCommand.usage}`)
    return REFUSED
  }
  const hook = await parts.input()
  const { format, mode } = options
  const isAnswer = (text: string) => isHookAnswer(format, text)
  const asked = await askGateway(hook, format, options, parts.env, isAnswer)
  if ('answer' in asked) {
    if (asked.answer !== '') out(asked.answer)
    return 0
  }
  const { away } = asked
  tell(`gateway guard: ${away}`)
  const denial = mode === 'audit' ? undefined : await judgeHere(hook, away, options, parts)
  const answer = hookAnswer(format, denial, `gateway guard: ${away}`)
  if (answer !== '') out(answer)
  return 0
}

/** Throws Error with the name of the option. */
export function readGuardOptions(args: readonly string[]): GuardOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      format: { type: 'string' },
      'when-away': { type: 'string', default: 'closed' },
      mode: { type: 'string', default: 'deny' },
      'timeout-ms': { type: 'string', default: '10000' },
      proxy: { type: 'string' },
      'ca-file': { type: 'string' },
    },
  })
  const { format, mode, proxy, 'ca-file': caFile } = values
  const { 'when-away': whenAway, 'timeout-ms': timeout } = values
  const timeoutMs = Number(timeout)
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 600_000) {
    throw new Error('--timeout-ms must be a number of milliseconds from 1 to 600000')
  }
  return {
    format: oneOf('--format', format, hookFormats),
    whenAway: oneOf('--when-away', whenAway, ['closed', 'open']),
    mode: oneOf('--mode', mode, ['deny', 'audit']),
    timeoutMs,
    proxy: proxy === undefined ? undefined : readProxy(proxy),
    ca: caFile === undefined ? undefined : readCa(caFile),
  }
}

function readProxy(url: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new Error(`--proxy must be a URL such as http://proxy.example:3128, got ${url}`)
}

function readCa(path: string): string {
  // A relative path would be in the guarded folder, which the agent can write.
  if (!isAbsolute(path)) throw new Error(`--ca-file must be an absolute path, got ${path}`)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`--ca-file cannot be read: ${(error as Error).message}`)
  }
}

function oneOf<W extends string>(
  option: string,
  value: string | undefined,
  words: readonly W[],
): W {
  const word = words.find((known) => known === value)
  if (word === undefined) throw new Error(`${option} must be one of ${words.join(', ')}`)
  return word
}

/** Why the call must not be made, as far as the local packs can decide without the gateway. */
async function judgeHere(
  hook: string,
  away: string,
  { format, whenAway }: GuardOptions,
  { packs }: GuardCommandParts,
): Promise<string | undefined> {
  const call = readCall(format, hook)
  const unknown = `denied, because the gateway cannot be asked: ${away}`
  if (call === undefined) return whenAway === 'open' ? undefined : unknown
  const input = inputOf(call)
  if (input === undefined) return 'denied: the arguments of the tool call are malformed.'
  const match = await firstMatch(input, packs)
  if (match === 'unknown') return 'denied: the tool call cannot be judged.'
  if (match !== undefined) {
    return `denied by ${match.packId}, rule ${match.ruleId}: ${match.description} ${match.saferAction} The gateway was not asked: ${away}`
  }
  return whenAway === 'open' ? undefined : unknown
}

async function firstMatch(
  input: GuardInput,
  load: GuardCommandParts['packs'],
): Promise<PackMatch | 'unknown' | undefined> {
  try {
    const { packs, prepare } = await load()
    const judge = () => {
      for (const pack of packs) {
        const match = pack.evaluate(input)
        if (match !== undefined) return match
      }
      return undefined
    }
    try {
      return judge()
    } catch {
      await prepare()
      return judge()
    }
  } catch {
    return 'unknown'
  }
}

function readCall(format: HookFormat, hook: string): HookCall | undefined {
  try {
    return readHook(format, JSON.parse(hook))
  } catch {
    return undefined
  }
}

/** Undefined: malformed arguments. */
function inputOf({ content, server }: HookCall): GuardInput | undefined {
  const [call] = content.kind === 'tool_calls' ? content.calls : []
  const parsed = call && parseArguments(call.arguments)
  if (call === undefined || parsed === undefined) return undefined
  return {
    kind: 'tool_call',
    phase: 'harness_pre_tool',
    server,
    tool: call.tool,
    arguments: parsed,
  }
}
