import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Inspection } from 'model-gateway/host'
import { seams } from 'model-gateway/middleware'
import { type Command, type JsonValue, UsageError } from 'model-gateway/plugin'
import {
  type Explained,
  type ExplainedRoute,
  type ExplainParts,
  explain,
  nameOf,
} from './explain.ts'

type Chains = ReturnType<Inspection['chains']>

/** `gateway plugins`: lists the loaded plugins, their sources, and the middlewares of each step. */
export function pluginsCommand(inspection: Inspection): Command {
  return {
    name: 'plugins',
    async run(args, out) {
      const { chains: withChains, json } = readOptions(args, {
        chains: { type: 'boolean' },
        json: { type: 'boolean' },
      })
      const chains = inspection.chains()
      if (json === true) {
        const plugins = inspection.plugins()
        const listed = { plugins, left_out: inspection.leftOut(), chains: chainTable(chains) }
        out(JSON.stringify(listed, null, 2))
        return
      }
      for (const line of pluginLines(inspection)) out(line)
      if (withChains === true) for (const line of chainLines(chains)) out(line)
    },
  }
}

function* pluginLines({ plugins, leftOut }: Inspection): Iterable<string> {
  for (const { id, version, use, needs, provides, isolation } of plugins()) {
    yield `${id} ${version}  ${use}${isolation === undefined ? '' : '  (in a worker)'}`
    if (provides.length > 0) yield `    provides ${provides.join(', ')}`
    if (needs.length > 0) yield `    needs ${needs.join(', ')}`
  }
  for (const { id, version, use, reason } of leftOut()) {
    yield `${id} ${version}  ${use}  LEFT OUT`
    yield `    ${reason}`
  }
}

function chainTable(chains: Chains) {
  return Object.fromEntries(
    seams.map((seam) => [
      seam,
      Object.fromEntries(
        [...chains[seam]].map(([surface, links]) => [
          surface,
          links.map(({ plugin, middleware: { id } }) => ({ id, plugin })),
        ]),
      ),
    ]),
  )
}

/** The steps in order. Steps without a chain take no middlewares. */
function* chainLines(chains: Chains): Iterable<string> {
  const steps = [
    'authenticate',
    'decode',
    'authorize, resolve, plan',
    'admit',
    'guard prompt',
    'execute',
    'guard response, settle',
    'respond',
    'record',
  ]
  yield ''
  yield 'middlewares of each step, outermost first'
  for (const step of steps) {
    const seam = seams.find((name) => name === step)
    if (seam === undefined) {
      yield `  ${step}`
      continue
    }
    yield `  ${step}:`
    const width = Math.max(...[...chains[seam].keys()].map(({ length }) => length))
    for (const [surface, links] of chains[seam]) {
      const names = links.map(nameOf)
      yield `    ${surface.padEnd(width)}  ${names.length === 0 ? '-' : names.join(' > ')}`
    }
  }
}

/**
 * `gateway explain`: explains how a request would be handled. Exit code 1 if it would be refused.
 */
export function explainCommand(parts: ExplainParts): Command {
  return {
    name: 'explain',
    async run(args, out) {
      const options = readOptions(args, {
        key: { type: 'string' },
        model: { type: 'string' },
        body: { type: 'string' },
        surface: { type: 'string', default: 'chat_completions' },
        json: { type: 'boolean' },
      })
      const surfaces = parts.inspection.surfaces()
      const surface = surfaces.find((name) => name === options.surface)
      if (typeof options.key !== 'string' || options.key === '') {
        throw new UsageError('--key is required')
      }
      if (surface === undefined) {
        throw new UsageError(`--surface must be one of ${surfaces.join(', ')}`)
      }
      const body = typeof options.body === 'string' ? readBody(options.body) : undefined
      const model = typeof options.model === 'string' ? options.model : undefined
      if (model === undefined && body === undefined) {
        throw new UsageError('--model or --body is required')
      }
      const explained = await explain({ key: options.key, surface, model, body }, parts)
      if (options.json === true) out(JSON.stringify(explained, null, 2))
      else for (const line of explainedLines(explained)) out(line)
      return explained.outcome.served ? 0 : 1
    },
  }
}

function* explainedLines(explained: Explained): Iterable<string> {
  const { caller, request, outcome, models, middlewares } = explained
  yield `caller    ${caller.owner} (key ${caller.key_id})`
  yield `request   ${request.surface} of ${request.model}, needs ${request.needs.join(', ')}`
  yield outcome.error === null
    ? 'outcome   would be sent to a provider, unless a guardrail denies it'
    : `outcome   ${outcome.error.status} ${outcome.error.code}: ${outcome.error.message}`
  for (const { id, execution_model, refused, routes } of models) {
    const alias = id === execution_model ? '' : `, an alias of ${execution_model}`
    yield `model     ${id}${alias}${refused === null ? '' : `: refused, ${refused}`}`
    for (const route of routes) yield* routeLines(route)
  }
  for (const [seam, names] of Object.entries(middlewares)) {
    if (names.length > 0) yield `around    ${seam}: ${names.join(' > ')}`
  }
}

function* routeLines(route: ExplainedRoute): Iterable<string> {
  const where = `priority ${route.priority}, weight ${route.weight}`
  const share = `${Number((100 * route.share).toFixed(1))} %`
  yield route.dropped === null
    ? `  kept    ${route.id} (${where}): ${share} of such requests`
    : `  dropped ${route.id} (${where}): ${route.dropped}`
  if (route.dropped !== null) return
  for (const budget of route.budgets) {
    const kind = budget.hard_limit ? 'hard' : 'soft'
    const used = `${budget.spent_usd} of ${budget.amount_usd} USD used`
    yield `    budget  ${budget.cadence}, ${kind}: ${used}${budget.exhausted ? ', EXHAUSTED' : ''} (${budget.scope_key})`
  }
  if (route.budgets.length === 0) yield '    budget  none'
  yield route.policy === null
    ? '    policy  none'
    : `    policy  ${route.policy.scope}: ${route.policy.phases.join(', ')}`
}

function readBody(file: string): JsonValue {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8')) as JsonValue
  } catch (error) {
    throw new UsageError(`the body ${file} cannot be read: ${(error as Error).message}`)
  }
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

function readOptions(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, strict: true }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
