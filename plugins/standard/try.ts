import { parseArgs } from 'node:util'
import { type BoundRouteFacts, boundRouteListeners } from 'model-gateway/host'
import { type ExchangeRecord, exchangeRecorders } from 'model-gateway/observer'
import { definePlugin, strictObject, UsageError } from 'model-gateway/plugin'
import { surfaces } from 'model-gateway/surface'
import { StartError } from '../../kernel/boot/errors.ts'
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
import { KEY_VARIABLE, type Trial, trialOf } from './try-config.ts'

const USAGE = 'usage: gateway try PROVIDER[/MODEL] [--images] [--api NAME]'
const WATCHER = 'gateway-try'
/** For the record of a call, which is made when its reply is over. */
const RECORD_WITHIN_MS = 2_000

/**
 * `gateway try PROVIDER[/MODEL]`: makes one cheap call with each API that the route claims, through a
 * gateway of the moment with an empty database. Exit code 1 when one fails.
 */
export async function tryCommand(invocation: Invocation): Promise<number> {
  const { target, images, apis } = optionsOf(invocation.args)
  const source = findConfig(invocation)
  requireLoaded(await read(source, invocation))
  const trial = trialOf(source.text, target, `builtin:${WATCHER}`)
  const key = generateKey().raw
  const watch = createWatch()
  const env = { ...invocation.env, GATEWAY_BIND: '127.0.0.1:0', [KEY_VARIABLE]: key }
  return await inFolderOfTheMoment(async (dataDir) => {
    const gateway = await startGateway({
      ...invocation,
      source: { text: trial.text, file: source.file },
      builtins: { ...invocation.builtins, [WATCHER]: watch.plugin },
      env,
      dataDir,
      ownDatabase: true,
      log: createLogger(undefined, 'warn'),
    })
    try {
      return await tryRoute({ ...invocation, gateway, trial, watch, key, images, apis })
    } finally {
      await gateway.stop()
    }
  })
}

interface Run extends Pick<Invocation, 'out'> {
  readonly gateway: Gateway
  readonly trial: Trial
  readonly watch: ReturnType<typeof createWatch>
  readonly key: string
  readonly images: boolean
  readonly apis: readonly string[]
}

async function tryRoute(run: Run): Promise<number> {
  const { gateway, trial, watch, key, out } = run
  const send = (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${key}`)
    return fetch(gateway.url + path, { ...init, headers })
  }
  const { calls, left, claimed } = await chosenCalls(run, send)
  if (calls.length === 0) {
    const route = `${trial.provider}/${trial.upstreamModel}`
    throw new StartError(
      `nothing to try of ${route}, which claims ${claimed.join(', ') || 'no API'}`,
    )
  }
  const width = Math.max(...calls.map(({ call }) => call.id.length))
  let failed = 0
  for (const { call, model } of calls) {
    const answer = await makeLiveCall(call, trial.name(model), send)
    const record = await watch.recordOf(answer.requestId)
    const time = `${Math.round(answer.ms)} ms`.padStart(8)
    const start = `${call.id.padEnd(width)}  ${answer.ok ? 'ok    ' : 'FAILED'} ${time}`
    if (answer.ok) out(`${start}  ${priceOf(record)}  ${model}: ${answer.said}`)
    else {
      failed++
      out(`${start}  ${model}: ${statusOf(answer.status)}${answer.said}`)
      if (answer.fix !== undefined) out(`${' '.repeat(width)}  ${answer.fix}`)
    }
  }
  if (left.length > 0) out(`not tried: ${left.join(', ')}`)
  return failed === 0 ? 0 : 1
}

/** The calls to make, each with its model, and what is left out, with how to have it. */
async function chosenCalls({ trial, watch, gateway, images, apis }: Run, send: Send) {
  const { capabilities } = watch.factsOf(trial.routeId)
  const loaded = gateway.registry.all(surfaces).map(({ id }) => id)
  const claimed = liveCalls.filter(
    ({ flags, surface }) =>
      loaded.includes(surface) && flags.every((flag) => capabilities[flag] === true),
  )
  const fitting = (upstreamModel: string) =>
    liveCallsFor({ capabilities, upstreamModel, surfaces: loaded })
  const usual = fitting(trial.upstreamModel)
  const others = trial.open ? await modelsOf(trial, send) : []
  const left: string[] = []
  const calls = claimed.flatMap((call): { call: LiveCall; model: string }[] => {
    if (apis.length > 0)
      return apis.includes(call.surface) ? [{ call, model: trial.upstreamModel }] : []
    const model = usual.includes(call)
      ? trial.upstreamModel
      : smallModelOf(call.kinds[0] as LiveCall['kinds'][number], others)
    if (model === undefined || !fitting(model).includes(call))
      left.push(`${call.id} (--api ${call.surface})`)
    else if (call.costly && !images) left.push(`${call.id} (--images)`)
    else return [{ call, model }]
    return []
  })
  return { calls, left, claimed: [...new Set(claimed.map(({ surface }) => surface))] }
}

type Send = (path: string, init: RequestInit) => Promise<Response>

/** What the gateway lists of a vendor's models. */
async function modelsOf(trial: Trial, send: Send): Promise<string[]> {
  const { data } = (await (await send('/v1/models', {})).json()) as { data: { id: string }[] }
  const prefix = trial.name('')
  return data.filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id.slice(prefix.length))
}

/** A plugin that keeps the routes in force, and what is recorded of each call. */
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
      summary: 'Keeps what calls of gateway try cost.',
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
      if (facts === undefined) throw new Error(`the route ${routeId} is not in force`)
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

/** What the ledger has of a call. */
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
  const [target, ...more] = parsed.positionals
  const { images = false, api: apis = [] } = parsed.values
  if (target === undefined || more.length > 0) throw fault('name one provider')
  const unknown = apis.find((name) => !names.includes(name))
  if (unknown !== undefined) throw fault(`--api ${unknown} is not one of ${names.join(', ')}`)
  return { target, images, apis }
}

function parse(args: readonly string[]) {
  const options = { images: { type: 'boolean' }, api: { type: 'string', multiple: true } } as const
  return parseArgs({ args: [...args], options, allowPositionals: true })
}
