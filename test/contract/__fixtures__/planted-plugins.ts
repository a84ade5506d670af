/** Faults of plugins as such, whatever they bring. */

import { accountingSinks } from 'model-gateway/accounting'
import { adminModules } from 'model-gateway/admin'
import { guardrailPacks } from 'model-gateway/guardrail'
import {
  commands,
  type Plugin,
  type PluginManifest,
  type Secret,
  SecretRef,
  strictObject,
  type TSchema,
  Type,
} from 'model-gateway/plugin'
import type { AnyPlugin } from '../kit.ts'
import { testPlugin } from '../plugin.ts'
import type { Planted } from './planted.ts'

const config = strictObject({
  token: SecretRef(),
  words: Type.Array(Type.String(), { default: ['one'] }),
})

let count = 0

/** A plugin that is sound but for what it is given. */
function plant(
  setup: (...args: Parameters<Plugin['setup']>) => unknown,
  manifest: Partial<PluginManifest<TSchema, never>> = {},
): AnyPlugin {
  return {
    manifest: {
      id: `plugin.planted-${count++}`,
      version: '1.0.0',
      contract: 1,
      summary: 'A fault on purpose.',
      config,
      needs: [],
      ...manifest,
    },
    setup: setup as AnyPlugin['setup'],
  }
}

const run = (plugin: AnyPlugin) => () =>
  testPlugin({ plugin, config: { token: 'literal.canary-4711' }, setupDeadlineMs: 300 })

const nothing = () => {}
const migration = (sql: string, name = '0001_start') => ({
  needs: ['database'] as never,
  migrations: [{ name, sql }],
})

const shape = 'its manifest has the shape of the contract'
const declared = 'it provides what it declares, all of it, and nothing that it does not'

/** A plugin of a class, and so is the section that it owns. */
class Styled {
  readonly #plugin = plant(nothing, { sections: [new Section()], check: () => [] })
  get manifest() {
    return this.#plugin.manifest
  }
  setup() {}
}

class Section {
  readonly #schema = strictObject({})
  readonly name = 'planted'
  get schema() {
    return this.#schema
  }
  schemaFor() {
    return this.#schema
  }
}

export const soundPlugins: readonly (() => void)[] = [run(plant(nothing)), run(new Styled())]

export const plantedPlugins: readonly Planted[] = [
  {
    fault: 'written for another contract',
    rule: shape,
    run: run(plant(nothing, { contract: 2 as never })),
  },
  {
    fault: 'an id without a kind',
    rule: shape,
    run: run(plant(nothing, { id: 'planted' as never })),
  },
  {
    fault: 'an unknown capability',
    rule: shape,
    run: run(plant(nothing, { needs: ['disk'] as never })),
  },
  {
    fault: 'a migration that is not named NNNN_name',
    rule: shape,
    run: run(plant(nothing, migration('create table planted_a (a int)', 'start'))),
  },
  {
    fault: 'a config that takes any key',
    rule: 'unknown keys of its config are refused',
    run: run(
      plant(nothing, {
        config: Type.Object({ token: SecretRef() }, { additionalProperties: true }),
      }),
    ),
  },
  {
    fault: 'a check that trusts the file',
    rule: 'its check takes any draft and leaves it as it is',
    run: run(
      plant(nothing, {
        check: (draft) =>
          (draft.section('planted') as { list: string[] }).list.map((message) => ({
            path: ['planted'],
            message,
          })),
      }),
    ),
  },
  {
    fault: 'set-up that hangs',
    rule: 'set-up ends well, within its deadline',
    run: run(plant(() => new Promise(nothing))),
  },
  {
    fault: 'set-up that throws',
    rule: 'set-up ends well, within its deadline',
    run: run(
      plant(() => {
        throw new Error('a fault on purpose')
      }),
    ),
  },
  {
    fault: 'a declared pack that is missing',
    rule: declared,
    run: run(
      plant(nothing, {
        declares: [{ point: guardrailPacks, spec: { id: 'custom.pack', phases: ['mcp_call'] } }],
      }),
    ),
  },
  {
    fault: 'a command that nobody declared',
    rule: declared,
    run: run(plant((ctx) => ctx.provide(commands, { name: 'do it', run: async () => {} }))),
  },
  {
    fault: 'a sink without record',
    rule: 'what it provides has the shape of its extension point',
    run: run(plant((ctx) => ctx.provide(accountingSinks, { write: nothing } as never))),
  },
  {
    fault: 'something provided too late',
    rule: 'it provides nothing once its set-up is over',
    run: run(
      plant((ctx) => {
        setTimeout(() => {
          try {
            ctx.provide(adminModules, { id: 'late', routes: [] })
          } catch {}
        }, 10)
      }),
    ),
  },
  {
    fault: 'a capability that it does not declare',
    rule: 'it uses no capability but those that it needs',
    run: run(
      plant((ctx) => {
        // As plain JavaScript would.
        void (ctx as { database?: unknown }).database
      }),
    ),
  },
  {
    fault: 'a config that is written to',
    rule: 'it leaves its config as it is',
    run: run(
      plant((ctx) => {
        const { words } = ctx.config as { words: string[] }
        try {
          words.push('two')
        } catch {}
      }),
    ),
  },
  {
    fault: 'a disposer that works once',
    rule: 'disposing twice is harmless, and it can be set up again',
    run: run(
      plant(() => {
        let open = true
        return () => {
          if (!open) throw new Error('it is closed already')
          open = false
        }
      }),
    ),
  },
  {
    fault: 'a secret in a log line',
    rule: 'no secret is in its logs or its errors',
    run: run(
      plant((ctx) => {
        ctx.log.debug({ token: (ctx.config as { token: Secret }).token.reveal() }, 'ready')
      }),
    ),
  },
  {
    fault: 'a secret on the console',
    rule: 'no secret is in its logs or its errors',
    run: run(
      plant((ctx) => {
        console.log('token', (ctx.config as { token: Secret }).token.reveal())
      }),
    ),
  },
  {
    fault: 'a table in the schema of all',
    rule: 'its migrations apply to an empty database, and stay in its own schema',
    run: run(
      plant(nothing, migration('create table own (a int); create table public.stray (a int)')),
    ),
  },
]
