import type { GuardInput, GuardrailPack, PackMatch, PackRule } from 'model-gateway/guardrail'
import type { JsonValue } from 'model-gateway/plugin'
import { type CommandReading, commandsOf, readCommands, type SimpleCommand } from './command.ts'
import { globbedNames, isGlob } from './command-glob.ts'
import { literal } from './command-state.ts'
import { commandTree } from './command-tree.ts'
import { payForJson } from './json-text.ts'
import { type Cap, capTexts, OverCap, verdictOf } from './work.ts'

export type ToolCall = Extract<GuardInput, { kind: 'tool_call' }>

/** A finding of a rule: the rule and the place. */
export interface Finding {
  readonly ruleId: string
  /** `command.executable`, `command.arguments`, `command.redirect`, `tool`, or a JSON path. */
  readonly matchedField: string
}

export interface CommandPackSpec {
  readonly id: string
  readonly aliases?: readonly string[]
  readonly version: string
  readonly summary: string
  /** All rules except `uninspectable`, which each pack has. */
  readonly rules: readonly PackRule[]
  /** Program names for which text that does not parse is denied. */
  readonly executables: ReadonlySet<string>
  /** As `GuardrailPack.prepare`. */
  readonly prepare?: () => Promise<void>
  /** Judges one command; the first finding in command order is the verdict. */
  command(command: SimpleCommand, reading: CommandReading): Finding | undefined
  /** Judges a tool call, including shell-like tools. */
  tool?(call: ToolCall): Finding | undefined
}

/** The rule for unreadable input, for findings with this id too. */
const uninspectable: PackRule = {
  id: 'uninspectable',
  reasonCode: 'command.uninspectable',
  description: 'The command cannot be read far enough to judge it.',
  saferAction: 'Send a shorter, plainer command, or one step at a time.',
}

const unread: Finding = { ruleId: uninspectable.id, matchedField: 'command.arguments' }

/** A pack that judges commands, and tool calls if the spec does. */
export function commandPack(spec: CommandPackSpec): GuardrailPack {
  const rules = [...spec.rules, uninspectable]
  const byId = new Map(rules.map((rule) => [rule.id, rule]))

  function find(input: GuardInput): Finding | undefined {
    if (input.kind === 'tool_call' && spec.tool !== undefined) {
      payForJson(input.arguments)
      const finding = spec.tool(input)
      if (finding !== undefined) return finding
    }
    const reading = readCommands(input)
    if (reading === undefined) return undefined
    const { unreadable } = reading
    if (unreadable !== undefined && unreadable !== 'syntax') throw new OverCap(unreadable)
    for (const command of reading.commands) {
      if (reading.isReadAtCalls(command)) continue
      const finding = spec.command(command, reading) ?? findByGlob(command, reading)
      if (finding !== undefined) return finding
    }
    return unreadable === 'syntax' && reading.mentions(spec.executables) ? unread : undefined
  }

  /** The programs that a name pattern may match. */
  function findByGlob(command: SimpleCommand, reading: CommandReading): Finding | undefined {
    const { executable, name } = command
    if (executable !== '' || name === undefined || !isGlob(name)) return undefined
    for (const each of globbedNames(name, spec.executables)) {
      const finding = spec.command({ ...command, executable: each, name: literal(each) }, reading)
      if (finding !== undefined) return finding
    }
    return undefined
  }

  function evaluate(input: GuardInput): PackMatch | undefined {
    return verdictOf(input, spec, () => judge(input))
  }

  function judge(input: GuardInput): PackMatch | undefined {
    try {
      return matchOf(find(input))
    } catch (error) {
      if (!(error instanceof OverCap)) throw error
      return matchOf(unread, error.cap)
    }
  }

  function matchOf(finding: Finding | undefined, cap?: Cap): PackMatch | undefined {
    const rule = finding && byId.get(finding.ruleId)
    if (finding === undefined || rule === undefined) return undefined
    return {
      packId: spec.id,
      ruleId: rule.id,
      matchedField: finding.matchedField,
      reasonCode: rule.reasonCode,
      description: cap === undefined ? rule.description : `${rule.description} ${capTexts[cap]}`,
      saferAction: rule.saferAction,
    }
  }

  return {
    id: spec.id,
    ...(spec.aliases === undefined ? {} : { aliases: spec.aliases }),
    version: spec.version,
    summary: spec.summary,
    phases: ['generated_tool_call', 'mcp_call', 'harness_pre_tool'],
    rules,
    ...(spec.prepare === undefined ? {} : { prepare: spec.prepare }),
    evaluate,
    explain: (input) => ({ reading: describe(input), match: evaluate(input) }),
  }
}

function describe(input: GuardInput): JsonValue {
  const reading = readCommands(input)
  const tool =
    input.kind === 'tool_call' ? { tool: input.tool, server: input.server?.key ?? null } : {}
  if (reading === undefined) return tool
  return {
    ...tool,
    unreadable: reading.unreadable ?? null,
    commands: reading.commands.map((command) => ({
      executable: command.executable,
      words: [command.name, ...command.words].flatMap((word) => (word ? [word.text] : [])),
      redirects: command.redirects.map(({ operator, target }) => `${operator}${target.text}`),
      stdin: command.stdin.kind,
      nesting: [...command.nesting],
    })),
    tree: treeOf(input),
  }
}

const trees = new WeakMap<GuardInput, JsonValue>()

/** Cached, so that several packs can explain it. */
function treeOf(input: GuardInput): JsonValue {
  const known = trees.get(input)
  if (known !== undefined) return known
  const tree = commandsOf(input).flatMap(({ command }) => [...commandTree(command)])
  trees.set(input, tree)
  return tree
}
