import {
  guardrailPacks,
  type IsolatedPack,
  type PackExplanation,
  PackFailure,
  type PackMatch,
} from 'model-gateway/guardrail'
import type { Isolation } from 'model-gateway/host'
import { type Plugin, Secret } from 'model-gateway/plugin'
import type { PackFacts } from './pack-messages.ts'
import { createPackThread, type PackThread, usualLimits } from './pack-thread.ts'

/** Loads plugins in threads that run `worker`, and provides their packs. */
export function createIsolation(worker: URL): Isolation {
  return {
    async setup({ manifest, module }, { config, log, meter, provide }) {
      if (holdsSecret(config))
        throw new Error('its config contains a secret, which must not leave the main thread')
      const ends = meter.createCounter('gateway.guardrails.pack_threads_ended', {
        description: 'Threads of isolated packs that were stopped: overrun, memory or crash.',
      })
      const thread = createPackThread({
        worker,
        start: { module, config },
        limits: usualLimits,
        log(line) {
          const { level, time: _, pid: __, hostname: ___, msg, ...rest } = JSON.parse(line)
          const say = level >= 50 ? 'error' : level >= 40 ? 'warn' : level >= 30 ? 'info' : 'debug'
          log[say](rest, msg)
        },
        ended(why, message) {
          ends.add(1, { plugin: manifest.id, reason: why })
          log.warn({ reason: why }, `the thread of the pack was stopped: ${message}`)
        },
      })
      try {
        for (const facts of await thread.open()) provide(guardrailPacks, packIn(thread, facts))
      } catch (error) {
        thread.close()
        throw error
      }
      return thread.close
    },
  }
}

/** Why a plugin cannot run in a separate thread; `undefined` if it can. */
export function isolationFault(manifest: Plugin['manifest']): string | undefined {
  const { declares = [] } = manifest
  const other = declares.find(({ point }) => point.name !== guardrailPacks.name)
  if (other !== undefined) return `it declares a ${other.point.what}`
  if (declares.length === 0) return 'it does not provide a guardrail pack'
  if (manifest.needs.length > 0) return `it needs ${manifest.needs.join(', ')}`
  for (const key of ['sections', 'providerTypes', 'commands', 'migrations', 'check'] as const) {
    if (manifest[key] !== undefined) return `its manifest has ${key}`
  }
  return undefined
}

function packIn(thread: PackThread, facts: PackFacts): IsolatedPack {
  return {
    ...facts,
    isolation: 'worker',
    prepare: () => thread.prepare(facts.id),
    async evaluate(input) {
      const match = await thread.ask('evaluate', facts.id, input)
      if (match !== undefined && !isMatch(match))
        throw new PackFailure('it did not return a verdict')
      return match
    },
    async explain(input) {
      return (await thread.ask('explain', facts.id, input)) as PackExplanation
    },
  }
}

type Texts = keyof { [K in keyof PackMatch as PackMatch[K] extends string ? K : never]: K }
const texts: readonly Texts[] = [
  'ruleId',
  'matchedField',
  'reasonCode',
  'description',
  'saferAction',
]

function isMatch(value: unknown): value is PackMatch {
  if (typeof value !== 'object' || value === null) return false
  return texts.every((name) => typeof (value as Record<string, unknown>)[name] === 'string')
}

function holdsSecret(value: unknown): boolean {
  if (value instanceof Secret) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsSecret)
}
