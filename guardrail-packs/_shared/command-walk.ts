import type {
  Assignment,
  Command,
  For,
  ParsedScript,
  Pipeline,
  Select,
  Statement,
  SyntaxNode,
  Word as WordNode,
} from 'unbash'
import type { Redirect, Word } from './command.ts'
import { assignedValue, eachChild } from './command-assignment.ts'
import { functionScope } from './command-constants.ts'
import { inSubscript } from './command-environment.ts'
import { isDownloader, keepRedirected, runByOthers, writesFile } from './command-files.ts'
import { knownWord } from './command-known.ts'
import { leavesStdout, noRedirections, readRedirects } from './command-redirects.ts'
import { keepAlias, runAlias, runAll, runCommand, runVariables } from './command-run.ts'
import {
  type Interpreter,
  inherited,
  inside,
  literal,
  noAssignments,
  noWords,
  type Output,
  type Place,
} from './command-state.ts'
import { walkSubstitutions } from './command-substitutions.ts'
import { assignedWords, expandWord } from './command-words.ts'
import { spend } from './work.ts'

export const interpreter: Interpreter = { walkScript, runAll }

function walkScript(script: ParsedScript, text: string, place: Place): Output {
  if (script.errors !== undefined && script.errors.length > 0) {
    place.session.broken = true
    place.session.unparsed.push(text)
  }
  return walkList(script.commands, place)
}

function walkList(statements: readonly Statement[], place: Place): Output {
  let output: Output = ''
  for (const statement of statements) {
    spend(2)
    const written = walkNode(
      statement.command,
      statement.background ? { ...place, nesting: [...place.nesting, '&'] } : place,
    )
    output = output === undefined || written === undefined ? undefined : output + written
  }
  return output
}

function walkNode(node: SyntaxNode, place: Place): Output {
  switch (node.type) {
    case 'Command':
      return walkCommand(node, place)
    case 'Pipeline':
      return walkPipeline(node, place)
    case 'AndOr': {
      let output: Output = node.operators.includes('||') ? undefined : ''
      for (const command of node.commands) {
        const written = walkNode(command, place)
        output = output === undefined || written === undefined ? undefined : output + written
      }
      return output
    }
    case 'Redirected': {
      const { redirects, stdin } = readRedirects(node.redirects, place)
      if (redirects.length > 0) runCommand([], place, { assignments: noAssignments, redirects })
      const here = stdin === undefined ? place : { ...place, stdin }
      const output = writing(redirects, here, (at) => walkNode(node.command, at))
      return leavesStdout(redirects) ? '' : output
    }
    case 'Subshell':
    case 'BraceGroup': {
      const inner = inside(place, node.type === 'Subshell' ? '()' : '{}')
      return walkList(node.body.commands, inner)
    }
    case 'CompoundList':
      return walkList(node.commands, place)
    case 'Function': {
      const { session } = place
      const inner = inside(place, `function ${node.name.value}`, { stdin: inherited })
      const outer = session.defining
      session.defining = node.name.value
      walkNode(node.body, { ...inner, scope: functionScope(place.scope) })
      session.defining = outer
      return ''
    }
    case 'Coproc': {
      const inner = inside(place, 'coproc')
      walkNode(node.body, inner)
      return ''
    }
    case 'Time':
    case 'Negation':
      return ''
    case 'Statement':
      return walkList([node], place)
    case 'If':
    case 'Elif':
    case 'For':
    case 'ArithmeticFor':
    case 'Select':
    case 'While':
    case 'Case':
    case 'CaseItem': {
      if (node.type === 'For' || node.type === 'Select') loopVariable(node, place)
      const inner = inside(place, node.type.toLowerCase())
      eachChild(node, (child) => void walkNode(child, inner))
      return undefined
    }
    case 'TestCommand':
      walkSubstitutions(node, place)
      walkSubscripts(node, place)
      return ''
    case 'ArithmeticCommand':
      walkSubstitutions(node, place)
      return ''
    default:
      walkSubstitutions(node, place)
      return undefined
  }
}

function maySubscript(text: string): boolean {
  return text.includes('[') && /[$`]/.test(text)
}

/** `[[ -v 'a[$(date)]' ]]`: the text in brackets is evaluated, quoted or not. */
function walkSubscripts(node: SyntaxNode, place: Place): void {
  if (node.type !== 'Word') eachChild(node, (child) => walkSubscripts(child, place))
  else if (maySubscript(node.value)) runAll(inSubscript(node.value), '[[', place)
}

/** Reads what `run` reads, and tracks its known output to files. */
function writing(
  redirects: readonly Redirect[],
  place: Place,
  run: (place: Place) => Output,
): Output {
  if (!redirects.some(writesFile)) return run(place)
  const { session } = place
  const start = session.commands.length
  const output = run({ ...place, captured: true })
  spend(session.commands.length - start)
  const fetched = session.commands.slice(start).some((each) => isDownloader(each.executable))
  keepRedirected(session, redirects, output, fetched)
  if (output !== undefined)
    for (const { target } of redirects)
      if (runByOthers.test(target.text))
        runAll([{ text: literal(output), lenient: true }], target.text, place)
  return output
}

/** A loop over one value sets its variable to this value; otherwise it is unknown. */
function loopVariable(node: For | Select, place: Place): void {
  const [only] = node.wordlist ?? []
  const one =
    node.wordlist?.length === 1 &&
    only !== undefined &&
    (!/[${]/.test(only.text) || /[`(]/.test(only.text) || expandWord(only, place).length === 1)
  if (!one) place.scope.record(node.name.value, undefined)
}

function walkPipeline({ commands: stages, prefixes }: Pipeline, place: Place): Output {
  const { commands } = place.session
  const last = stages.length - 1
  let { stdin } = place
  let output: Output
  let at = 0
  for (const stage of stages) {
    const start = commands.length
    const captured = place.captured || at < last
    const here = { ...place, stdin, captured }
    output =
      at === 0 &&
      prefixes !== undefined &&
      stage.type === 'Command' &&
      takesOptions(prefixes, stage)
        ? walkCommand(stage, here, timeCommand)
        : walkNode(stage, here)
    spend(2 + commands.length - start)
    if (at++ < last) stdin = { kind: 'pipe', producers: commands.slice(start), text: output }
  }
  return output
}

const timeCommand = [literal('time')]

/** `time -v make`: with such options it is a program, not a keyword, in shells other than bash. */
function takesOptions(prefixes: NonNullable<Pipeline['prefixes']>, { name }: Command): boolean {
  return prefixes.at(-1)?.type === 'Time' && name !== undefined && name.text.startsWith('-')
}

/** `before` are words in front of the node's words. */
function walkCommand(node: Command, place: Place, before = noWords): Output {
  let words = node.name === undefined ? noWords : expandWord(node.name, place)
  if (before.length > 0) words = [...before, ...words]
  let assignments = noAssignments
  let redirected = false
  let escaped = node.name !== undefined && doublyEscaped(node.name)
  if (node.prefix.length > 0) {
    const given = new Map<string, Word>()
    for (const item of node.prefix) {
      if (item.type !== 'Assignment') redirected = true
      else {
        const [value] = assign(item, place)
        if (value !== undefined) given.set(item.name, value)
      }
    }
    if (given.size > 0) assignments = given
  }
  if (node.suffix.length > 0) {
    const all = [...words]
    for (const item of node.suffix) {
      if (item.type === 'Word') {
        const known = knownWord(item)
        if (known !== undefined) all.push(known)
        else {
          for (const word of expandWord(item, place)) all.push(word)
          escaped ||= doublyEscaped(item)
        }
      } else if (item.type === 'Assignment') {
        const [value] = assign(item, place)
        if (value !== undefined) all.push({ ...value, text: `${item.name}=${value.text}` })
      } else redirected = true
    }
    words = all
  }
  const { redirects, stdin } = redirected ? readRedirects(node.redirects, place) : noRedirections
  if (assignments !== noAssignments) runVariables(assignments, place)
  if (words.length === 0 && redirects.length === 0 && stdin === undefined) return ''
  const here = stdin === undefined ? place : { ...place, stdin }
  const given = { assignments, redirects }
  const { commands, spans } = place.session
  const start = commands.length
  const output =
    redirects.length === 0
      ? runCommand(words, here, given)
      : writing(redirects, here, (at) => runCommand(words, at, given))
  if (node.name !== undefined) runAlias(node.name.text, words, here, given)
  spans?.set(node, { start, end: commands.length })
  if (escaped) rereadUnescaped(node, here, given)
  return leavesStdout(redirects) ? '' : output
}

function assign(item: Assignment, place: Place): readonly Word[] {
  spend(16)
  if (item.index !== undefined) walkSubstitutions(item.index, place)
  const values = assignedWords(assignedValue(item), place)
  place.scope.record(item.name, values)
  const [value] = values
  if (value !== undefined && !value.dynamic && maySubscript(value.text))
    runAll(inSubscript(value.text), item.name, place)
  if (item.index !== undefined && /^BASH_(?:ALIASES|CMDS)$/.test(item.name) && value !== undefined)
    keepAlias(place.session, item.index.value, value.text)
  return values
}

/**
 * A word such as `reset
 * --hard`: white space that was escaped once too often.
 */
function doublyEscaped(word: WordNode): boolean {
  return word.text.includes('\\') && /^[^'"$`]*\\[nrt][^'"$`]*$/.test(word.text)
}

/** The reading in which escaped white space is white space. */
function rereadUnescaped(
  node: Command,
  place: Place,
  given: Parameters<typeof runCommand>[2],
): void {
  const inner = inside(place, 'escaped')
  if (node.name === undefined) return
  const words = [node.name, ...node.suffix].flatMap((item): readonly Word[] => {
    if (item.type !== 'Word') return []
    if (!doublyEscaped(item)) return [literal(item.value)]
    const pieces = item.text.split(/\\[nrt]/).filter((text) => text !== '')
    return pieces.map((text) => literal(text.replaceAll('\\', '')))
  })
  runCommand(words, inner, given)
}
