import type { Logger } from 'pino'
import { formatProblems, type LocatedProblem } from '../config/problems.ts'
import { startCalling } from '../egress/egress.ts'
import { createHealth } from '../http/health.ts'
import { listen } from '../http/listen.ts'
import type { LifecycleServices } from '../lifecycle/exchange.ts'
import { createInference } from '../lifecycle/inference.ts'
import {
  type Accounting,
  accounting,
  affinity,
  boundRouteListeners,
  ConfigError,
  type ExtensionPoint,
  exchangeRecorders,
  healthChecks,
  identity,
  welcome,
} from '../plugin/index.ts'
import { nextTurn } from '../plugin/turn.ts'
import { contain, containDisposal } from '../registry/contain.ts'
import type { Registry } from '../registry/registry.ts'
import { type Assembled, assemble, type BootOptions, prepareListeners } from './assemble.ts'
import { watchDatabase } from './database-watch.ts'
import { type ProvidedBy, StartError } from './errors.ts'
import {
  chainsOf,
  createChainTools,
  httpRoutesOf,
  leftOutCheck,
  observationOf,
  recordersOf,
  surfacesOf,
} from './extensions.ts'
import { needsRestart } from './needs-restart.ts'
import { type ConfigSource, readConfig } from './read-config.ts'
import {
  type BoundRuntime,
  type CurrentRuntime,
  createCurrentRuntime,
  prepareRuntime,
} from './runtime.ts'

const WELCOME_DEADLINE_MS = 10_000

export interface Gateway {
  readonly url: string
  readonly registry: Registry
  /**
   * Activates another config without interrupting requests. Resolves to the problems that made it
   * refuse the config; the old config then stays active.
   */
  reload(source: ConfigSource): Promise<readonly LocatedProblem[]>
  /** Lines from plugins for the person who started the gateway. */
  welcome(): Promise<readonly string[]>
  /** Waits for running requests, then stops everything. */
  stop(): Promise<void>
}

/** Starts a gateway and listens. */
export async function startGateway(options: BootOptions): Promise<Gateway> {
  const { log } = options
  const assembled = await assemble({ ...options, serves: true })
  const { loaded, registry } = assembled
  let current: CurrentRuntime | undefined
  try {
    if (!loaded.server.ungoverned) requireGoverned(registry, options.providedBy)
    const first = await prepareRuntime(loaded, registry, log)
    current = createCurrentRuntime(first)
    assembled.runtime.use(current)
    tellRoutes(registry, first, log)
    await startCalling()
    options.ended?.throwIfAborted()
    const { url, stop } = serve(assembled, current, options)
    log.info({ url, config_version: loaded.snapshot.version }, 'the gateway is serving')

    let stopping: Promise<void> | undefined
    let reloading: Promise<unknown> = Promise.resolve()
    const { lease, replace, close } = current
    const reload = (source: ConfigSource) =>
      reloadConfig(source, assembled, options, { lease, replace, close })
    return {
      url,
      registry,
      reload(source) {
        const done = reloading.then(() => reload(source))
        reloading = done.catch(() => {})
        return done
      },
      welcome: () => welcomeLines(registry, url, log),
      stop() {
        stopping ??= (async () => {
          await stop(loaded.server.shutdown_grace_secs * 1000)
          await reloading
          await close()
          // Streams without a caller are settled up to here.
          const books = registry.all(accounting)[0]
          await containDisposal('accounting', log, () => books?.drain?.())
          await assembled.close()
        })()
        return stopping
      },
    }
  } catch (error) {
    await current?.close()
    await assembled.close()
    throw error
  }
}

function serve(
  { loaded, registry, database, door, drain }: Assembled,
  { lease }: CurrentRuntime,
  { log }: BootOptions,
) {
  const { server } = loaded
  const services: LifecycleServices = {
    lease,
    identity: registry.one(identity),
    accounting: registry.all(accounting)[0] ?? noAccounting,
    affinity: registry.all(affinity)[0],
    recorders: recordersOf(registry, log),
    chains: chainsOf(registry),
    chainTools: createChainTools(log),
    trace: observationOf(registry, log),
    random: Math.random,
    fault: (message, err, requestId) => log.error({ err, request_id: requestId }, message),
  }
  const health = createHealth({
    checks: [...registry.all(healthChecks), ...leftOutCheck(registry)],
    configVersion() {
      const { runtime, release } = lease()
      release()
      return runtime.configVersion
    },
    databaseReachable: () => databaseWatch.reachable(),
    fault: (message, err) => log.error({ err }, message),
  })
  const listening = listen({
    ...server.bind,
    bodyTimeoutMs: server.body_timeout_ms,
    trustedProxies: server.trusted_proxies,
    ownRequestIds: server.request_ids === 'own',
    cors: server.cors,
    log,
    services: {
      infer: createInference(services),
      bodyLimits: { maxBytes: server.max_body_bytes, timeoutMs: server.body_timeout_ms },
      fault: services.fault,
      health,
      httpRoutes: httpRoutesOf(registry),
      surfaces: surfacesOf(registry),
      door,
    },
  })
  const databaseWatch = watchDatabase(database, log)
  return {
    url: listening.url,
    async stop(graceMs: number) {
      const left = await health.drain(graceMs)
      drain()
      await listening.stop(left)
      // Replies are recorded one event-loop turn after they are sent.
      await nextTurn()
      databaseWatch.stop()
    },
  }
}

async function reloadConfig(
  source: ConfigSource,
  { config: before, loaded: started, registry, inspected }: Assembled,
  { builtins, env, log }: BootOptions,
  current: CurrentRuntime,
): Promise<readonly LocatedProblem[]> {
  const read = await readConfig(source, builtins, env)
  const { loaded, problems } = read
  if (loaded === undefined) return problems
  const uses = ({ plugins }: typeof read) =>
    JSON.stringify(
      plugins.map(({ use, config, isolation, onBootFailure }) => [
        use,
        config,
        isolation,
        onBootFailure,
      ]),
    )
  if (uses(read) !== uses(before)) {
    return [
      {
        path: ['plugins'],
        message: 'changes to plugins, their config or their isolation need a restart',
      },
    ]
  }
  try {
    const next = await prepareRuntime(loaded, registry, log)
    try {
      const putIntoForce = await prepareListeners(registry, before.plugins, loaded.snapshot, log)
      for (const err of putIntoForce()) log.error({ err }, 'a plugin failed at the new config')
    } catch (error) {
      await next.dispose()
      throw error
    }
    current.replace(next)
    inspected.loaded = loaded
    tellRoutes(registry, next, log)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  for (const problem of problems) log.warn(formatProblems([problem], read.file))
  const waiting = needsRestart(started, loaded)
  if (waiting.length > 0) log.warn(`${waiting.join(', ')}: the new value applies after a restart`)
  log.info({ config_version: loaded.snapshot.version }, 'the new config is active')
  return []
}

/** Errors of listeners are logged only, because the routes are already active. */
function tellRoutes(registry: Registry, { routes }: BoundRuntime, log: Logger): void {
  for (const { plugin, implementation } of registry.provided(boundRouteListeners)) {
    try {
      implementation.inForce(routes)
    } catch (err) {
      log.error({ plugin, err }, 'the plugin failed to handle the active routes')
    }
  }
}

async function welcomeLines(registry: Registry, url: string, log: Logger): Promise<string[]> {
  const lines: string[] = []
  for (const { plugin, implementation } of registry.provided(welcome)) {
    try {
      const asked = { call: 'the start-up message', deadlineMs: WELCOME_DEADLINE_MS, log }
      lines.push(...(await contain(asked, () => implementation.lines(url))))
    } catch (err) {
      log.error({ plugin, err }, 'the plugin failed to write its start-up message')
    }
  }
  return lines
}

/** Accounting for `server.ungoverned: true`: admits all calls and writes nothing. */
const noAccounting: Accounting = {
  checkOwner() {},
  admit() {},
  settle: () => Promise.resolve({ kind: 'none' }),
  abortDrainMs: () => 0,
}

function requireGoverned(registry: Registry, providedBy: ProvidedBy = {}): void {
  const needed: ExtensionPoint<unknown>[] = [accounting, exchangeRecorders]
  const missing = needed.filter((point) => registry.all(point).length === 0)
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  const load = names.map((name) => providedBy[name] ?? `a plugin for ${name}`).join(' and ')
  throw new StartError(
    `no plugin provides ${names.join(', ')}: load ${load}, or set server.ungoverned: true to measure without them`,
  )
}
