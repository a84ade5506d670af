import { heapSize } from 'bun:jsc'
import { metrics, trace } from '@opentelemetry/api'
import {
  type GuardrailPack,
  guardrailPacks,
  type PackMatch,
  type PackRule,
} from 'model-gateway/guardrail'
import type { CapabilityName, ExtensionPoint, Plugin, PluginContext } from 'model-gateway/plugin'
import { pino } from 'pino'
import type { FromThread, PackFacts, ToThread } from './pack-messages.ts'

declare const self: Worker

/**
 * Runs one pack plugin in a thread: handles one message at a time. `load` imports the plugin of a
 * module, `builtin:NAME` or a path.
 */
export function servePacks(load: (module: string) => Promise<Plugin>): void {
  const packs = new Map<string, GuardrailPack>()
  const post = (message: FromThread) => self.postMessage(message)
  const log = pino({ level: 'debug' }, { write: (line: string) => post({ kind: 'log', line }) })

  async function start({ module, config, prepared }: Extract<ToThread, { kind: 'start' }>) {
    const plugin = await load(module)
    const context = {
      config,
      log,
      meter: metrics.getMeter(plugin.manifest.id),
      tracer: trace.getTracer(plugin.manifest.id),
      signal: new AbortController().signal,
      provide<T>(point: ExtensionPoint<T>, implementation: T) {
        if (point.name !== guardrailPacks.name) {
          throw new Error(`provides ${point.name}: a worker can provide only packs`)
        }
        const pack = implementation as GuardrailPack
        packs.set(pack.id, pack)
      },
    }
    // Never disposed: the plugin ends with its thread.
    await plugin.setup(context as unknown as PluginContext<unknown, CapabilityName>)
    for (const id of prepared) await packs.get(id)?.prepare?.()
    return [...packs.values()].map(
      ({ id, aliases, version, summary, phases, rules }): PackFacts => ({
        id,
        ...(aliases !== undefined && { aliases }),
        version,
        summary,
        phases,
        rules: rules.map((rule) => ({ id: rule.id, ...wordsOf(rule) })),
      }),
    )
  }

  function packOf(id: string): GuardrailPack {
    const pack = packs.get(id)
    if (pack === undefined) throw new Error('unknown pack')
    return pack
  }

  async function answer(message: ToThread): Promise<unknown> {
    if (message.kind === 'start') return await start(message)
    const pack = packOf(message.pack)
    if (message.kind === 'prepare') return await pack.prepare?.()
    if (message.kind === 'evaluate') return matchOf(await pack.evaluate(message.input))
    const { reading, match } = await pack.explain(message.input)
    return { reading, match: matchOf(match) }
  }

  self.onmessage = async ({ data }: MessageEvent<ToThread>) => {
    try {
      const result = await answer(data)
      post({ kind: 'done', result, heapBytes: heapSize() })
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      const said = data.kind === 'start' ? error.message : error.name
      post({ kind: 'threw', error: said, heapBytes: heapSize() })
    }
  }
}

/**
 * Copies the known members of a match, because other values, such as functions, cannot leave the
 * thread.
 */
function wordsOf({ reasonCode, description, saferAction }: Omit<PackRule, 'id'>) {
  return { reasonCode, description, saferAction }
}

function matchOf(match: PackMatch | undefined): PackMatch | undefined {
  if (!match) return match
  const { packId, ruleId, matchedField } = match
  return { packId, ruleId, matchedField, ...wordsOf(match) }
}
