import type { JudgeNested } from './sql-statement.ts'
import type { SqlScript } from './sql-tokens.ts'
import type { SqlHazard } from './sql-verbs.ts'
import { OverCap, spend } from './work.ts'

type Node = { readonly [key: string]: unknown }
type Parse = (text: string) => unknown

let parse: Parse | undefined

/** Loads the Postgres parser; await it before the first verdict. */
export async function loadPostgresParser(): Promise<void> {
  if (parse !== undefined) return
  const library = await import('libpg-query')
  await library.loadModule()
  parse = library.parseSync
}

/** Statements that are hazards by their type. */
const hazardOfKind: ReadonlyMap<string, SqlHazard> = new Map([
  ['DropStmt', 'drop'],
  ['DropdbStmt', 'drop'],
  ['DropRoleStmt', 'drop'],
  ['DropOwnedStmt', 'drop'],
  ['DropTableSpaceStmt', 'drop'],
  ['DropUserMappingStmt', 'drop'],
  ['DropSubscriptionStmt', 'drop'],
  ['TruncateStmt', 'truncate'],
])

/** Only stored or planned: nothing inside is run. */
const notRun: ReadonlySet<string> = new Set(['CreateFunctionStmt', 'RuleStmt', 'CreateTrigStmt'])

/** Steps of the parser per call and per token, paid first because it cannot be interrupted. */
const callSteps = 500
const tokenSteps = 12

/**
 * Judges a text as Postgres reads it; `undefined` also if it is not Postgres SQL. `script` is the
 * text as our reader splits it for Postgres.
 */
export function judgeAsPostgres(
  text: string,
  script: SqlScript,
  nested: JudgeNested,
): SqlHazard | undefined {
  if (parse === undefined) throw new Error('The Postgres parser is not loaded.')
  payFor(script)
  let tree: unknown
  try {
    tree = parse(text)
  } catch {
    return undefined
  }
  return judgeTree(tree, nested)
}

/** Whether Postgres reads a text as complete SQL. */
export function isPostgres(text: string, script: SqlScript): boolean {
  payFor(script)
  try {
    parse?.(text)
    return parse !== undefined
  } catch {
    return false
  }
}

/** It also takes quadratic time for consecutive operators, which have no meaning then. */
const mostOperators = 64

function payFor({ statements }: SqlScript): void {
  let steps = callSteps
  for (const statement of statements) {
    steps += 4 * tokenSteps
    if (statement.kind !== 'sql') continue
    steps += tokenSteps * statement.tokens.length
    let operators = 0
    for (const { kind, text } of statement.tokens) {
      operators = kind === 'mark' && !/^[(),.;:[\]{}]$/.test(text) ? operators + 1 : 0
      if (operators > mostOperators) throw new OverCap('too_many')
    }
  }
  spend(steps)
}

function judgeTree(root: unknown, nested: JudgeNested): SqlHazard | undefined {
  // A separate stack, because the parser allows deeper trees than the call stack.
  const pending: unknown[] = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    spend(1)
    if (Array.isArray(value)) {
      pending.push(...value)
      continue
    }
    if (!isNode(value)) continue
    for (const [kind, inside] of Object.entries(value)) {
      if (typeof inside !== 'object' || inside === null) continue
      if (isNode(inside)) {
        const hazard = hazardOfKind.get(kind) ?? judgeNode(kind, inside, nested)
        if (hazard !== undefined) return hazard
        if (notRun.has(kind) || (kind === 'ExplainStmt' && !analyzes(inside))) continue
      }
      pending.push(inside)
    }
  }
  return undefined
}

function judgeNode(kind: string, node: Node, nested: JudgeNested): SqlHazard | undefined {
  switch (kind) {
    case 'DeleteStmt':
      return isBounded(node) ? undefined : 'delete'
    case 'UpdateStmt':
      return isBounded(node) ? undefined : 'update'
    case 'MergeWhenClause':
      return node.commandType === 'CMD_DELETE' ? 'merge_delete' : undefined
    case 'CopyStmt':
      return node.is_program === true ? 'program' : undefined
    case 'AlterTableCmd':
      return node.subtype === 'AT_DropColumn' ? 'alter_drop' : undefined
    case 'DoStmt':
      return judgeBody(node, nested)
    default:
      return undefined
  }
}

function judgeBody(node: Node, nested: JudgeNested): SqlHazard | undefined {
  for (const text of strings(node.args)) {
    const hazard = nested(text)
    if (hazard !== undefined) return hazard
  }
  return undefined
}

function isBounded(node: Node): boolean {
  return node.whereClause !== undefined && !isConstantTrue(node.whereClause)
}

/**
 * A condition that is true without a row: `true`, `1 = 1`, `id = id`, or one of them after an OR.
 */
function isConstantTrue(condition: unknown): boolean {
  if (!isNode(condition)) return false
  const { BoolExpr: bool, A_Expr: comparison, A_Const: constant } = condition
  if (isNode(constant)) return isNode(constant.boolval) && constant.boolval.boolval === true
  if (isNode(bool) && Array.isArray(bool.args)) {
    if (bool.boolop === 'OR_EXPR') return bool.args.some(isConstantTrue)
    return bool.boolop === 'AND_EXPR' && bool.args.every(isConstantTrue)
  }
  if (!isNode(comparison) || comparison.kind !== 'AEXPR_OP') return false
  return [...strings(comparison.name)].join('') === '=' && same(comparison.lexpr, comparison.rexpr)
}

/** Whether two trees are equal, ignoring positions. Not recursive, because they may be deep. */
function same(left: unknown, right: unknown): boolean {
  const pending: [unknown, unknown][] = [[left, right]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    spend(2)
    const [a, b] = next
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
      if (a !== b) return false
      continue
    }
    const keys = Object.keys(a).filter((key) => key !== 'location')
    if (keys.length !== Object.keys(b).filter((key) => key !== 'location').length) return false
    for (const key of keys) pending.push([(a as Node)[key], (b as Node)[key]])
  }
  return true
}

function analyzes(explain: Node): boolean {
  if (!Array.isArray(explain.options)) return false
  return explain.options.some(
    (option) =>
      isNode(option) &&
      isNode(option.DefElem) &&
      option.DefElem.defname === 'analyze' &&
      !/^(?:false|off|0)$/.test([...strings(option.DefElem.arg)].join('')),
  )
}

/** Each `sval` in a tree. */
function* strings(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const each of value) yield* strings(each)
  } else if (isNode(value)) {
    for (const [key, inside] of Object.entries(value)) {
      if (key === 'sval' && typeof inside === 'string') yield inside
      else yield* strings(inside)
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
