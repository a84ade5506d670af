import { adminModules } from 'model-gateway/admin'
import { guard } from 'model-gateway/guardrail'
import { type ConfigSnapshot, snapshotListeners } from 'model-gateway/host'
import { mcpRegistry } from 'model-gateway/mcp'
import { definePlugin, healthChecks, optional, Type } from 'model-gateway/plugin'
import decisions from '../../migrations/guardrails/0001_decisions.sql' with { type: 'text' }
import { createBatchWriter } from '../_shared/batch-writer.ts'
import { ledgerReserve } from '../_shared/ledger-reserve.ts'
import { openSpool } from '../_shared/spool.ts'
import { createTally } from '../_shared/tally.ts'
import { createWriteAhead } from '../_shared/write-ahead.ts'
import { adminRoutes } from './admin.ts'
import { checkGuardrails } from './check.ts'
import { guardrails } from './config.ts'
import * as contract from './contract.ts'
import { evaluateRoute } from './evaluate.ts'
import { explainRoute } from './explain.ts'
import { guardCommand, setupCommands } from './guard-command-spec.ts'
import { type CompiledPolicies, compilePolicies } from './policies.ts'
import { createRecorder } from './recorder.ts'
import { serversOf } from './servers.ts'
import { createStore } from './store.ts'
import { createTerminalMemory } from './terminal-sessions.ts'

/** Of the files on the local disk. */
const NAME = 'guardrails'
const HOUR_MS = 3_600_000

/**
 * Resolves policies, judges operations with packs and managed checks, and records the decisions.
 */
export default definePlugin({
  manifest: {
    id: 'plugin.guardrails',
    version: '0.1.0',
    contract: 1,
    summary:
      'Guardrail policies: deterministic packs and managed checks, with a record of every decision.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [guardrails],
    commands: [...setupCommands, guardCommand],
    needs: ['database', 'schedule', 'clock', 'files'],
    uses: {
      packs: contract.guardrailPacks,
      kinds: contract.managedCheckKinds,
      servers: optional(mcpRegistry),
    },
    provides: [guard],
    migrations: [{ name: '0001_decisions', sql: decisions }],
    check: checkGuardrails,
  },
  contracts: { 'model-gateway/guardrail': contract },
  async setup(ctx) {
    const { log, clock, uses, provide } = ctx
    const store = createStore(ctx.database)
    let reserve = 0
    const directory = ctx.files.directory()
    const spool = openSpool({ directory, name: NAME, log, reserve: () => reserve })
    await spool.adopt()
    const lost = createTally({
      log,
      name: 'lost',
      message: 'guardrail decisions were lost',
      counter: ctx.meter.createCounter('gateway.guardrails.lost_decisions', {
        description: 'Decisions that could be written neither to the database nor to the spool.',
      }),
    })
    const writer = createBatchWriter({
      name: 'the list of guardrail decisions',
      write: store.write,
      toRecord: ({ json }) => json,
      fromRecord: (json) => ({ json, payload: undefined }),
      spool,
      ahead: createWriteAhead(directory, NAME, () => reserve),
      lost,
      log,
    })
    const record = createRecorder(ctx.meter, writer.push)
    const message = 'guardrail evaluators failed'
    const faults = createTally({ log, name: 'faults', message })

    // Shared by all configs, because a terminal stays open when the config changes.
    const terminals = createTerminalMemory(() => clock.now().getTime())

    /** Shared by the listener and the runtime, which both need the policies of a config. */
    const compiled = new WeakMap<ConfigSnapshot, Promise<CompiledPolicies>>()
    const compile = (snapshot: ConfigSnapshot): Promise<CompiledPolicies> => {
      let policies = compiled.get(snapshot)
      if (policies === undefined) {
        policies = compilePolicies(snapshot, {
          packs: uses.packs(),
          kinds: uses.kinds(),
          now: () => clock.now().getTime(),
          fault: (evaluator, error) => faults.add(1, evaluator, error),
          record,
          terminals,
        })
        compiled.set(snapshot, policies)
      }
      return policies
    }

    let current: CompiledPolicies | undefined
    provide(guard, { compile })
    provide(snapshotListeners, {
      async prepare(snapshot) {
        const policies = await compile(snapshot)
        const nextReserve = ledgerReserve(snapshot)
        return () => {
          current = policies
          reserve = nextReserve
        }
      },
    })
    const inForce = (): CompiledPolicies => {
      if (current === undefined) throw new Error('no config is loaded yet')
      return current
    }
    const servers = serversOf(uses.servers)
    ctx.schedule.every(HOUR_MS, async () => {
      const { retentionMs } = inForce()
      const deleted = await store.purge(new Date(clock.now().getTime() - retentionMs))
      if (deleted > 0) log.info({ deleted }, 'old guardrail decisions were deleted')
    })
    provide(adminModules, {
      id: 'guardrails',
      routes: [
        ...adminRoutes({ inForce, store, packs: uses.packs }),
        explainRoute({ inForce, packs: uses.packs, servers }),
        evaluateRoute(inForce, servers),
      ],
    })
    provide(healthChecks, {
      name: 'guardrails',
      check: () => ({
        status: writer.away() || spool.depth > 0 ? 'degraded' : 'ok',
        details: { queued: writer.waiting(), lost: lost.total, spool_depth: spool.depth },
      }),
    })
    return async () => {
      try {
        await current?.dispose()
      } finally {
        await writer.close()
        faults.report()
      }
    }
  },
})
