import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { KindGuard } from '@sinclair/typebox'
import { type ConfigDraft, type Declared, nameAt } from 'model-gateway/host'
import { checkDeclared } from '../../kernel/registry/declared.ts'
import { asPlugin } from '../../kernel/registry/plugin-shape.ts'
import { implementationFault } from '../../kernel/registry/shape.ts'
import { schemaName } from '../../kernel/storage/schema-name.ts'
import { type AnyPlugin, expectNothingIn, TEST_MS, textOf } from './kit.ts'
import {
  databaseOf,
  type PluginBench,
  type PluginBenchOptions,
  setUpPlugin,
  setUpWith,
} from './plugin-bench.ts'
import { cutDown, loaded, openObjects, thawed } from './schemas.ts'

export interface PluginKit extends PluginBenchOptions {
  /** Values that no log line may show, beside the secrets of the config. */
  readonly secrets?: readonly string[]
}

/** What every plugin has to do, whatever it brings, as tests. Call it once for a plugin. */
export function testPlugin(kit: PluginKit): void {
  const { plugin } = kit
  const { manifest } = plugin

  describe(`contract of the plugin ${manifest?.id}`, () => {
    const benches: PluginBench[] = []
    let first: PluginBench

    async function setUp(): Promise<PluginBench> {
      const bench = await setUpPlugin(kit)
      benches.push(bench)
      return bench
    }
    async function sound(): Promise<PluginBench> {
      const bench = await setUp()
      if (bench.error !== undefined) throw bench.error
      return bench
    }
    beforeAll(async () => {
      first = await setUp()
    }, TEST_MS)
    afterAll(async () => {
      for (const bench of benches) await bench.dispose()
    }, TEST_MS)

    test('its manifest has the shape of the contract', () => {
      expectNothingIn(manifestFaults(plugin))
    })

    test('unknown keys of its config are refused', () => {
      expectNothingIn(openSchemas(plugin).map((path) => `${path} says additionalProperties: true`))
      expect(() => loaded(manifest.config, { ...written(kit), nobody_knows: 1 }, 'config')).toThrow(
        'nobody_knows',
      )
    })

    test('its check takes any draft and leaves it as it is', () => {
      expectNothingIn(checkFaults(plugin))
    })

    test('set-up ends well, within its deadline', () => {
      if (first.error !== undefined) throw first.error
    })

    test('it provides what it declares, all of it, and nothing that it does not', () => {
      checkDeclared(plugin, first.provided)
    })

    test('what it provides has the shape of its extension point', () => {
      expectNothingIn(
        first.provided.flatMap((each) => {
          const fault = implementationFault(each.point, each.implementation)
          return fault === undefined ? [] : [fault]
        }),
      )
    })

    test('it provides nothing once its set-up is over', async () => {
      await Bun.sleep(50)
      expectNothingIn(first.late.map((point) => `${point} was provided after set-up`))
    })

    test('it uses no capability but those that it needs', () => {
      expectNothingIn(
        [...first.undeclared].map((name) => `it reads ctx.${name}; its needs do not name ${name}`),
      )
    })

    test(
      'it leaves its config as it is',
      async () => {
        const config = thawed(loaded(manifest.config, written(kit), 'config'))
        const before = thawed(config)
        const bench = await setUpWith(kit, config, kit.beside ?? [])
        benches.push(bench)
        expect(config).toEqual(before)
      },
      TEST_MS,
    )

    test(
      'disposing twice is harmless, and it can be set up again',
      async () => {
        const bench = await sound()
        await bench.dispose()
        await bench.disposeAgain()
        const again = await sound()
        expect(again.provided.map(({ point }) => point.name)).toEqual(
          bench.provided.map(({ point }) => point.name),
        )
      },
      TEST_MS,
    )

    test('no secret is in its logs or its errors', () => {
      const secrets = [...first.secrets, ...(kit.secrets ?? [])].filter((secret) => secret !== '')
      const told = benches.map((bench) => bench.output() + textOf(bench.error)).join('\n')
      expectNothingIn(
        secrets.filter((secret) => told.includes(secret)).map(() => 'a secret was written down'),
      )
    })

    if (manifest?.migrations !== undefined && manifest.migrations.length > 0) {
      test(
        'its migrations apply to an empty database, and stay in its own schema',
        async () => {
          const { sql, schema } = await databaseOf(plugin)
          expect(schema).toBe(schemaName(manifest.id))
          const own =
            await sql`select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = ${schema} limit 1`
          expect(own.length).toBe(1)
          const strays = await sql`select n.nspname, c.relname from pg_class c
            join pg_namespace n on n.oid = c.relnamespace
            where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'kernel', ${schema})`
          expectNothingIn(strays.map(({ nspname, relname }) => `made ${nspname}.${relname}`))
        },
        TEST_MS,
      )
    }
  })
}

function written({ config }: PluginKit): Readonly<Record<string, unknown>> {
  return (config ?? {}) as Readonly<Record<string, unknown>>
}

function manifestFaults(plugin: AnyPlugin): string[] {
  const result = asPlugin(plugin)
  if ('fault' in result) return [`the plugin ${result.fault}`]
  const { version, migrations = [], needs } = plugin.manifest
  const wrong: string[] = []
  if (!/^\d+\.\d+\.\d+/.test(version)) wrong.push(`version ${version} is not like 1.0.0`)
  if (new Set(needs).size !== needs.length) wrong.push('needs names something twice')
  const names = migrations.map(({ name }) => name)
  for (const name of names) {
    if (!/^\d{4}_[a-z0-9_]+$/.test(name)) wrong.push(`migration ${name} is not named NNNN_name`)
  }
  if (new Set(names).size !== names.length || names.join() !== names.toSorted().join()) {
    wrong.push('its migrations are not in the order of their names, each once')
  }
  if (names.length > 0 && !needs.includes('database')) {
    wrong.push('it has migrations, but does not need the database')
  }
  return wrong
}

/** Every schema of the config file that the plugin brings. */
function openSchemas({ manifest }: AnyPlugin): string[] {
  const { config, sections = [], providerTypes = [], declares = [] } = manifest
  return [
    ...openObjects(config, 'config'),
    ...sections.flatMap(({ name, schema }) => openObjects(schema, name)),
    ...providerTypes.flatMap((spec) => [
      ...openObjects(spec.config, spec.type),
      ...openObjects(spec.compatibility, `${spec.type} compatibility`),
    ]),
    ...declares.flatMap(({ point, spec }) =>
      Object.values(spec)
        .filter((part) => KindGuard.IsSchema(part))
        .flatMap((part) => openObjects(part, nameAt(point, spec))),
    ),
  ]
}

const nothingDeclared: Declared = {}

/** Parts of a file that people write by mistake; the loader cuts out what has the wrong type. */
const oddParts: readonly unknown[] = [undefined, {}, [], [{}], [null, 'text', 7], { a: null }]

function checkFaults({ manifest }: AnyPlugin): string[] {
  const wrong: string[] = []
  for (const written of manifest.check === undefined ? [] : oddParts) {
    const sections = new Map(
      (manifest.sections ?? []).map((section) => [
        section.name,
        cutDown(section.schemaFor?.(nothingDeclared) ?? section.schema, written),
      ]),
    )
    const draft: ConfigDraft = {
      modelIds: new Set(['some-model']),
      providerIds: new Set(['some-provider']),
      declared: nothingDeclared,
      section: (name) => sections.get(name),
    }
    try {
      for (const { path, message } of manifest.check?.(draft) ?? []) {
        if (!Array.isArray(path) || typeof message !== 'string' || message === '') {
          wrong.push('check gives a problem without path or message')
        }
      }
    } catch (error) {
      wrong.push(`check throws for a section written as ${JSON.stringify(written)}: ${error}`)
    }
  }
  return wrong
}
