import { parseArgs } from 'node:util'
import { type BoundRouteFacts, boundRouteListeners } from 'model-gateway/host'
import { type ExchangeRecord, exchangeRecorders } from 'model-gateway/observer'
import { definePlugin, strictObject, UsageError } from 'model-gateway/plugin'
import { surfaces } from 'model-gateway/surface'
import { createLogger } from '../../kernel/boot/log.ts'
import { requireLoaded } from '../../kernel/boot/read-config.ts'
import { type Gateway, startGateway } from '../../kernel/boot/start.ts'
import { type LiveCall, liveCalls, liveCallsFor, makeLiveCall } from '../_shared/live-check.ts'
import { smallModelOf } from '../_shared/live-models.ts'
import { usd } from '../_shared/money.ts'
import { generateKey } from '../identity/keys.ts'
import type { Invocation } from './cli.ts'
import { inFolderOfTheMoment, read } from './commands.ts'
import { findConfig } from './source.ts'
import { KEY_VARIABLE, type Trial, type TriedRoute, trialsOf } from './try-config.ts'

const USAGE = 'usage: gateway try [PROVIDER[/MODEL] ...] [--images] [--api NAME]'
const WATCHER = 'gateway-try'
/** Maximum wait for the record of a call, which is written after its reply. */
const RECORD_WITHIN_MS = 2_000

/**
 * `gateway try [PROVIDER[/MODEL] ...]`: makes one cheap call with each API that a route of each
 * provider supports, through a temporary gateway with an empty database. Exit code 1 if a call
 * fails or none is made.
 */
export async function tryCommand(invocation: Invocation): Promise<number> {
  const { targets, images, apis } = optionsOf(invocation.args)
  const source = findConfig(invocation)
  requireLoaded(await read(source, invocation))
  const { text, trials } = trialsOf(source.text, targets, `builtin:${WATCHER}`)
  const key = generateKey().raw
  const watch = createWatch()
  const env = { ...invocation.env, GATEWAY_BIND: '127.0.0.1:0', [KEY_VARIABLE]: key }
  return await inFolderOfTheMoment(async (dataDir) => {
    const gateway = await startGateway({
      ...invocation,
      source: { text, file: source.file },
      builtins: { ...invocation.builtins, [WATCHER]: watch.plugin },
      env,
      dataDir,
      ownDatabase: true,
      log: createLogger(undefined, 'warn'),
    })
    const send: Send = (path, init) => {
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${key}`)
      return fetch(gateway.url + path, { ...init, headers })
    }
    const run = { ...invocation, gateway, watch, send, images, apis }
    try {
      const answers: boolean[] = []
      for (const trial of trials) answers.push(...(await tryProvider(trial, run)))
      return answers.length > 0 && answers.every((ok) => ok) ? 0 : 1
    } finally {
      await gateway.stop()
    }
  })
}

interface Run extends Pick<Invocation, 'out'> {
  readonly gateway: Gateway
  readonly watch: ReturnType<typeof createWatch>
  readonly send: Send
  readonly images: boolean
  readonly apis: readonly string[]
}

/** Whether each of the calls was answered. */
async function tryProvider({ provider, variables, route }: Trial, run: Run): Promise<boolean[]> {
  const { watch, send, out } = run
  out(variables.length === 0 ? provider : `${provider} (${variables.join(', ')})`)
  if (route === undefined) {
    out(`not tried: no model of it is known; name one: gateway try ${provider}/MODEL`)
    return []
  }
  const { calls, left, claimed } = await chosenCalls(provider, route, run)
  if (calls.length === 0) {
    out(
      `nothing to try for ${route.upstreamModel}, which supports ${claimed.join(', ') || 'no API'}`,
    )
  }
  const width = Math.max(...calls.map(({ call }) => call.id.length))
  const answers: boolean[] = []
  for (const { call, model } of calls) {
    const answer = await makeLiveCall(call, route.name(model), send)
    const time = `${Math.round(answer.ms)} ms`.padStart(8)
    const start = `${call.id.padEnd(width)}  ${answer.ok ? 'ok    ' : 'FAILED'} ${time}`
    answers.push(answer.ok)
    if (answer.ok) {
      const price = priceOf(await watch.recordOf(answer.requestId))
      out(`${start}  ${price}  ${model}: ${answer.said}`)
    } else {
      out(`${start}  ${model}: ${statusOf(answer.status)}${answer.said}`)
      if (answer.fix !== undefined) out(`${' '.repeat(width)}  ${answer.fix}`)
    }
  }
  for (const [reason, ids] of left) out(`not tried: ${ids.join(', ')} (${reason})`)
  return answers
}

/** The calls to make, each with its model, and the skipped calls by how to enable them. */
async function chosenCalls(provider: string, route: TriedRoute, run: Run) {
  const { watch, gateway, send, images, apis } = run
  const { upstreamModel, open } = route
  const { capabilities } = watch.factsOf(route.id)
  const loaded = gateway.registry.all(surfaces).map(({ id }) => id)
  const claimed = liveCalls.filter(
    ({ flags, surface }) =>
      loaded.includes(surface) && flags.every((flag) => capabilities[flag] === true),
  )
  const usual = liveCallsFor({ capabilities, upstreamModel, surfaces: loaded })
  const others = open ? await modelsOf(route, send) : []
  const modelFor = (call: LiveCall) =>
    usual.includes(call) ? upstreamModel : smallModelOf(call.kinds, others)
  const left = new Map<string, string[]>()
  const leave = (reason: string, { id }: LiveCall) => {
    left.set(reason, [...(left.get(reason) ?? []), id])
    return []
  }
  const calls = claimed.flatMap((call): { call: LiveCall; model: string }[] => {
    const asked = apis.includes(call.surface)
    if (apis.length > 0 && !asked) return []
    const model = modelFor(call) ?? (asked ? upstreamModel : undefined)
    if (model === undefined) {
      const fix = open
        ? `no model for it is known; name one: gateway try ${provider}/MODEL`
        : `--api ${call.surface}`
      return leave(fix, call)
    }
    return call.costly && !images && !asked ? leave('--images', call) : [{ call, model }]
  })
  return { calls, left, claimed: [...new Set(claimed.map(({ surface }) => surface))] }
}

type Send = (path: string, init: RequestInit) => Promise<Response>

/** The vendor's models, as the gateway lists them. */
async function modelsOf(route: TriedRoute, send: Send): Promise<string[]> {
  const { data } = (await (await send('/v1/models', {})).json()) as { data: { id: string }[] }
  const prefix = route.name('')
  return data.filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id.slice(prefix.length))
}

/** A plugin that captures the routes in force and the record of each call. */
function createWatch() {
  let routes: ReadonlyMap<string, BoundRouteFacts> = new Map()
  const records = new Map<string, PromiseWithResolvers<ExchangeRecord>>()
  const slot = (id: string) => {
    const found = records.get(id) ?? Promise.withResolvers<ExchangeRecord>()
    records.set(id, found)
    return found
  }
  const plugin = definePlugin({
    manifest: {
      id: 'plugin.gateway-try',
      version: '0.1.0',
      contract: 1,
      summary: 'Records the cost of calls that gateway try makes.',
      config: strictObject({}),
      needs: [],
    },
    setup({ provide }) {
      provide(boundRouteListeners, {
        inForce(inForce) {
          routes = inForce
        },
      })
      provide(exchangeRecorders, { record: (record) => slot(record.requestId).resolve(record) })
    },
  })
  return {
    plugin,
    factsOf(routeId: string): BoundRouteFacts {
      const facts = routes.get(routeId)
      if (facts === undefined) throw new Error(`the route ${routeId} is not loaded`)
      return facts
    },
    /** Undefined when nothing is recorded of it. */
    recordOf(requestId: string | undefined): Promise<ExchangeRecord | undefined> {
      if (requestId === undefined) return Promise.resolve(undefined)
      return Promise.race([
        slot(requestId).promise,
        Bun.sleep(RECORD_WITHIN_MS).then(() => undefined),
      ])
    },
  }
}

/** The cost of a call in the ledger. */
function priceOf(record: ExchangeRecord | undefined): string {
  const { settlement } = record ?? {}
  if (settlement === undefined || settlement.kind === 'none') return 'no price'
  if (settlement.kind === 'rejected') return `$${usd(settlement.costPicoUsd)}`
  const { costPicoUsd, unpricedReason, pricingStatus } = settlement
  return costPicoUsd === undefined
    ? `no price: ${unpricedReason ?? pricingStatus}`
    : `$${usd(costPicoUsd)}`
}

const statusOf = (status: number) => (status === 0 || status === 200 ? '' : `${status} `)

function optionsOf(args: readonly string[]) {
  const fault = (message: string) => new UsageError(`${message}\n${USAGE}`)
  const names = [...new Set(liveCalls.map(({ surface }) => surface))]
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    throw fault((error as Error).message)
  }
  const { images = false, api: apis = [] } = parsed.values
  const unknown = apis.find((name) => !names.includes(name))
  if (unknown !== undefined) throw fault(`--api ${unknown} is not one of ${names.join(', ')}`)
  return { targets: parsed.positionals, images, apis }
}

function parse(args: readonly string[]) {
  const options = { images: { type: 'boolean' }, api: { type: 'string', multiple: true } } as const
  return parseArgs({ args: [...args], options, allowPositionals: true })
}
