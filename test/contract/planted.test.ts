import { beforeAll, describe, expect, test } from 'bun:test'
import type { Planted } from './__fixtures__/planted.ts'
import { plantedMiddlewares, plantedModules, plantedSinks } from './__fixtures__/planted-calls.ts'
import { plantedChecks, plantedModes, plantedPacks } from './__fixtures__/planted-guards.ts'
import { plantedPlugins } from './__fixtures__/planted-plugins.ts'
import { plantedProviders } from './__fixtures__/planted-providers.ts'
import { plantedSurfaces } from './__fixtures__/planted-surfaces.ts'

const kinds: Readonly<Record<string, readonly Planted[]>> = {
  plugin: plantedPlugins,
  pack: plantedPacks,
  'managed check': plantedChecks,
  'MCP auth mode': plantedModes,
  'accounting sink': plantedSinks,
  'admin module': plantedModules,
  middleware: plantedMiddlewares,
  provider: plantedProviders,
  API: plantedSurfaces,
}

describe('the kits on faults that were planted', () => {
  /** `fault > kit > rule` of each test that failed, as the runner names it. */
  let failed: readonly string[] = []
  let passed = 0

  beforeAll(async () => {
    const run = Bun.spawn(
      [
        process.execPath,
        'test',
        '--timeout',
        '20000',
        './test/contract/__fixtures__/run-planted.ts',
      ],
      { cwd: `${import.meta.dir}/../..`, stdout: 'ignore', stderr: 'pipe' },
    )
    const report = await new Response(run.stderr).text()
    failed = [...report.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/gm)].map(
      ([, name]) => name as string,
    )
    passed = report.matchAll(/^\(pass\) /gm).toArray().length
  }, 120_000)

  test('what is sound passes', () => {
    expect(failed.filter((name) => name.startsWith('sound'))).toEqual([])
    expect(passed).toBeGreaterThan(100)
  })

  for (const [kind, planted] of Object.entries(kinds)) {
    test.each([...planted])(`${kind}: $fault`, ({ fault, rule }) => {
      const caught = failed.filter((name) => name.startsWith(`planted: ${fault} > `))
      expect(caught.map((name) => name.slice(name.lastIndexOf(' > ') + 3))).toContain(rule)
    })
  }
})
