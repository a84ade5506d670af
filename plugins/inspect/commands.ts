import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Assembled, assemble } from '../../kernel/boot/assemble.ts'
import type { Invocation } from '../../kernel/boot/cli.ts'
import { StartError } from '../../kernel/boot/errors.ts'
import { chainsOf } from '../../kernel/boot/extensions.ts'
import { prepareRuntime } from '../../kernel/boot/runtime.ts'
import { type ConfigSource, findConfig } from '../../kernel/boot/source.ts'
import { type Chains, linkName } from '../../kernel/lifecycle/chain.ts'
import {
  accounting,
  GatewayError,
  identity,
  type JsonValue,
  seams,
  surfaces,
  UsageError,
} from '../../kernel/plugin/index.ts'
import type { Registry } from '../../kernel/registry/registry.ts'
import { createLogger } from '../../kernel/telemetry/log.ts'
import { type Explained, type ExplainedRoute, explain } from './explain.ts'

const PLUGINS_USAGE = 'gateway plugins [--chains] [--json]'
const EXPLAIN_USAGE = `gateway explain --key KEY --model MODEL [--body FILE] [--surface ${surfaces.join('|')}] [--json]`

/**
 * Sets the plugins of a config up with an empty database for the moment, so that this touches none
 * and needs none.
 */
export async function withPlugins<T>(
  invocation: Invocation,
  source: ConfigSource,
  use: (assembled: Assembled) => T | Promise<T>,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-plugins-'))
  // As root, Postgres runs under another account, which has to get to its files.
  chmodSync(dataDir, 0o711)
  const log = createLogger(undefined, 'warn')
  try {
    const assembled = await assemble({ ...invocation, source, dataDir, log, ownDatabase: true })
    try {
      return await use(assembled)
    } finally {
      await assembled.close()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** `gateway plugins`: what is loaded, from where, and what stands around the steps of a request. */
export async function pluginsCommand(invocation: Invocation): Promise<number> {
  const source = findConfig(invocation)
  const { chains: withChains, json } = readOptions(invocation.args, PLUGINS_USAGE, {
    chains: { type: 'boolean' },
    json: { type: 'boolean' },
  })
  await withPlugins(invocation, source, ({ registry }) => {
    const chains = chainsOf(registry)
    const { plugins, leftOut } = registry
    if (json === true) {
      const listed = { plugins, left_out: leftOut, chains: chainTable(chains) }
      invocation.out(JSON.stringify(listed, null, 2))
      return
    }
    for (const line of pluginLines(registry)) invocation.out(line)
    if (withChains === true) for (const line of chainLines(chains)) invocation.out(line)
  })
  return 0
}

function* pluginLines({ plugins, leftOut }: Registry): Iterable<string> {
  for (const { id, version, use, needs, provides, isolation } of plugins) {
    yield `${id} ${version}  ${use}${isolation === undefined ? '' : '  (in a worker)'}`
    if (provides.length > 0) yield `    provides ${provides.join(', ')}`
    if (needs.length > 0) yield `    needs ${needs.join(', ')}`
  }
  for (const { id, version, use, reason } of leftOut) {
    yield `${id} ${version}  ${use}  LEFT OUT`
    yield `    ${reason}`
  }
}

function chainTable(chains: Chains) {
  return Object.fromEntries(
    seams.map((seam) => [
      seam,
      Object.fromEntries(
        surfaces.map((surface) => [
          surface,
          chains[seam][surface].map(({ plugin, middleware: { id } }) => ({ id, plugin })),
        ]),
      ),
    ]),
  )
}

/** The steps in their order; nothing can stand around those without a chain. */
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
  yield 'inference, the outermost middleware first'
  for (const step of steps) {
    const seam = seams.find((name) => name === step)
    if (seam === undefined) {
      yield `  ${step}`
      continue
    }
    yield `  ${step}:`
    for (const surface of surfaces) {
      const names = chains[seam][surface].map(linkName)
      yield `    ${surface.padEnd(16)}  ${names.length === 0 ? '-' : names.join(' > ')}`
    }
  }
}

/** `gateway explain`: what would become of a request, and why. */
export async function explainCommand(invocation: Invocation): Promise<number> {
  const source = findConfig(invocation)
  const options = readOptions(invocation.args, EXPLAIN_USAGE, {
    key: { type: 'string' },
    model: { type: 'string' },
    body: { type: 'string' },
    surface: { type: 'string', default: 'chat_completions' },
    json: { type: 'boolean' },
  })
  const surface = surfaces.find((name) => name === options.surface)
  if (typeof options.key !== 'string' || options.key === '') {
    throw new UsageError(`--key is needed\nusage: ${EXPLAIN_USAGE}`)
  }
  if (surface === undefined) throw new UsageError(`--surface is one of ${surfaces.join(', ')}`)
  const body = typeof options.body === 'string' ? readBody(options.body) : undefined
  const model = typeof options.model === 'string' ? options.model : undefined
  if (model === undefined && body === undefined) {
    throw new UsageError(`--model or --body is needed\nusage: ${EXPLAIN_USAGE}`)
  }
  const log = createLogger(undefined, 'warn')
  const assembled = await assemble({ ...invocation, source, log, attach: true })
  try {
    const { runtime, dispose } = await prepareRuntime(assembled.loaded, assembled.registry, log)
    try {
      const { registry } = assembled
      const question = { key: options.key, surface, model, body }
      const explained = await explain(question, {
        identity: registry.one(identity),
        accounting: registry.all(accounting)[0],
        runtime,
        chains: chainsOf(registry),
        now: new Date(),
      })
      if (options.json === true) invocation.out(JSON.stringify(explained, null, 2))
      else for (const line of explainedLines(explained)) invocation.out(line)
      return explained.outcome.served ? 0 : 1
    } finally {
      await dispose()
    }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    throw new StartError(`${error.code} (${error.status}): ${error.message}`)
  } finally {
    await assembled.close()
  }
}

function* explainedLines(explained: Explained): Iterable<string> {
  const { caller, request, outcome, models, middlewares } = explained
  yield `caller    ${caller.owner} (key ${caller.key_id})`
  yield `request   ${request.surface} of ${request.model}, needs ${request.needs.join(', ')}`
  yield outcome.error === null
    ? 'outcome   it would be sent to a provider, unless a guard denies it'
    : `outcome   ${outcome.error.status} ${outcome.error.code}: ${outcome.error.message}`
  for (const { id, execution_model, refused, routes } of models) {
    const alias = id === execution_model ? '' : `, which stands for ${execution_model}`
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

function readOptions(args: readonly string[], usage: string, options: Options) {
  try {
    return parseArgs({ args: [...args], options, strict: true }).values
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\nusage: ${usage}`)
  }
}
