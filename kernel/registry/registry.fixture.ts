import { type Logger, pino } from 'pino'
import type { LoadedPlugin } from '../config/loaded.ts'
import {
  type Capabilities,
  type CapabilityName,
  definePlugin,
  type Plugin,
  type PluginManifest,
  type TSchema,
  Type,
} from '../plugin/index.ts'

/** A small plugin with an id and overrides. */
export function plugin(
  id: `${string}.${string}`,
  setup: Plugin['setup'] = () => {},
  manifest: Partial<PluginManifest<TSchema, CapabilityName>> = {},
): Plugin {
  return definePlugin<TSchema, CapabilityName>({
    manifest: {
      id,
      version: '1.0.0',
      contract: 1,
      summary: id,
      config: Type.Object({}),
      needs: [],
      ...manifest,
    },
    setup,
  })
}

export function loadedPlugins(...plugins: Plugin[]): LoadedPlugin[] {
  return plugins.map((plugin, index) => ({
    plugin,
    use: `./${plugin.manifest.id}.ts`,
    path: ['plugins', index],
    config: undefined,
  }))
}

/** A logger that keeps its lines. */
export function keptLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) })
  return { log, lines }
}

/** Capabilities, of which only the clock works. */
export function clockOnly(): Capabilities {
  const absent = (): never => {
    throw new Error('not in this test')
  }
  return {
    clock: { now: () => new Date(0) },
    inspection: {
      surfaces: absent,
      plugins: absent,
      leftOut: absent,
      chains: absent,
      plan: absent,
    },
    egress: { send: absent },
    outbound: { check: absent, fetch: absent },
    schedule: { every: absent },
    files: { directory: absent },
    door: {
      loopback: true,
      publicBaseUrl: undefined,
      checksHost: true,
      requireOwnHost: absent,
      draining: new AbortController().signal,
    },
    runtime: { lease: absent },
    get database(): never {
      return absent()
    },
    get start(): never {
      return absent()
    },
  }
}
