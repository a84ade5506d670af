import {
  configSection,
  DecimalString,
  definePlugin,
  formatPath,
  isJsonObject,
  KEY_ALIASES,
  type Plugin,
  type Problem,
  SecretRef,
  Type,
} from '../plugin/index.ts'
import { checkConfig } from './check.ts'
import type { LoadedConfig, LoadedPlugin } from './loaded.ts'
import { parseConfig } from './parse.ts'

/** A section with every kind of value. */
const TeamsSection = Type.Array(
  Type.Object({
    key: Type.String({ minLength: 1 }),
    budget: Type.Optional(
      Type.Object({
        amount_usd: DecimalString({ maxPlaces: 4 }),
        cadence: Type.Union(
          [Type.Literal('daily'), Type.Literal('weekly'), Type.Literal('monthly')],
          { default: 'monthly' },
        ),
      }),
    ),
    api_keys: Type.Array(Type.Object({ name: Type.String(), value: SecretRef() }), { default: [] }),
    models: Type.Array(Type.String(), { default: [] }),
  }),
)
export const teams = configSection('teams', TeamsSection)

export const people = definePlugin({
  manifest: {
    id: 'plugin.people',
    version: '1.0.0',
    contract: 1,
    summary: 'Teams.',
    config: Type.Object({ greeting: Type.String({ default: 'hello' }) }),
    sections: [teams],
    needs: [],
    *check(draft): Iterable<Problem> {
      const section = draft.section('teams')
      if (!Array.isArray(section)) return
      for (const [index, team] of section.entries()) {
        const models = isJsonObject(team) && Array.isArray(team.models) ? team.models : []
        for (const [at, model] of models.entries()) {
          if (typeof model === 'string' && draft.modelIds.has(model)) continue
          yield { path: ['teams', index, 'models', at], message: `no model ${model}` }
        }
      }
    },
  },
  setup() {},
})

export const wire = definePlugin({
  manifest: {
    id: 'provider.wire',
    version: '1.0.0',
    contract: 1,
    summary: 'A provider type.',
    dialects: ['chat_completions', 'responses', 'embeddings'],
    config: Type.Object({}),
    providerTypes: [
      {
        type: 'wire',
        aliases: ['acme_wire'],
        config: Type.Object(
          {
            base_url: Type.String({ pattern: '^https?://' }),
            auth: Type.Optional(
              Type.Union([
                Type.Object({ mode: Type.Literal('bearer'), token: SecretRef() }),
                Type.Object({ mode: Type.Literal('none') }),
              ]),
            ),
          },
          { [KEY_ALIASES]: { endpoint: 'base_url' } },
        ),
        compatibility: Type.Object(
          {
            store: Type.Optional(Type.Boolean({ default: true })),
            only: Type.Optional(Type.Array(Type.String())),
            wire: Type.Optional(Type.Object({ strict: Type.Optional(Type.Boolean()) })),
          },
          { [KEY_ALIASES]: { acme_wire: 'wire' } },
        ),
        *checkRoute(route, provider) {
          if (isJsonObject(route.compatibility) && route.compatibility.store === false) {
            const path = ['compatibility', 'store']
            if (provider.base_url === 'http://strict') yield { path, message: 'strict stores' }
          }
          const { wire: own } = isJsonObject(route.compatibility) ? route.compatibility : {}
          if (isJsonObject(own) && own.strict === false) {
            yield { path: ['compatibility', 'wire', 'strict'], message: 'is not strict' }
          }
        },
        *checkProvider(provider) {
          if (provider.base_url === 'http://bad') yield { path: ['base_url'], message: 'is bad' }
        },
      },
    ],
    needs: [],
  },
  setup() {},
})

export function asLoaded(...plugins: Plugin[]): readonly LoadedPlugin[] {
  return plugins.map((plugin) => ({
    plugin,
    use: `builtin:${plugin.manifest.id}`,
    path: ['plugins'],
    config: undefined,
  }))
}

/** Checks a text with both plugins. */
export function check(
  text: string,
  env: Record<string, string> = {},
  plugins = asLoaded(people, wire),
) {
  const parsed = parseConfig(text)
  return checkConfig(parsed, { plugins, problems: [], complete: true }, env)
}

/** As `check`, for a text without errors. */
export function load(text: string, env: Record<string, string> = {}): LoadedConfig {
  const { loaded, problems } = check(text, env)
  if (loaded === undefined) throw new Error(problems.map((p) => p.message).join('\n'))
  return loaded
}

/** The problems of a file: `path: message`. */
export const lines = (text: string, env = {}) =>
  check(text, env).problems.map((p) => `${formatPath(p.path)}: ${p.message}`)

/** The smallest valid file. */
export const minimal = `
providers:
  - { id: up, type: wire, base_url: "http://up" }
models:
  - id: m
    routes:
      - { provider: up, upstream_model: big }
`
