import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isWildcard } from 'model-gateway/host'
import { type PricingIdentity, providerFactories } from 'model-gateway/provider'
import pino from 'pino'
import { readConfig, requireLoaded } from '../../../kernel/boot/read-config.ts'
import { createInstances } from '../../../kernel/registry/instances.ts'
import {
  buildCatalog,
  type Catalog,
  withOverrides,
} from '../../../plugins/pricing-catalog/catalog.ts'
import { pricing as pricingSection } from '../../../plugins/pricing-catalog/config.ts'
import { resolveRates } from '../../../plugins/pricing-catalog/resolve.ts'
import { bundledSnapshot } from '../../../plugins/pricing-catalog/snapshot.ts'
import { builtins } from '../../../plugins/standard/builtins.ts'
import { presets } from '../../../providers/generic-compat/presets.ts'
import { docsBlocks } from '../../harness/docs-page.ts'
import { noTelemetry } from '../../harness/telemetry.ts'
import { startGoogleCloud } from '../../harness/upstream-clouds-google.ts'

const ROOT = join(import.meta.dir, '../../..')
const read = (page: string) => readFileSync(join(ROOT, page), 'utf8')
const bundled = buildCatalog(bundledSnapshot)
const now = new Date()

/** What the page on providers says of models without a price. */
const [, explained = ''] = read('docs/providers/README.md').split(
  /^## (?:What has no price|simulator)$/m,
)
const globs = [...explained.matchAll(/`([^`]+)`/g)].map(([, name]) => new Bun.Glob(name as string))

/** Why a model of the docs cannot be priced; undefined when it can. */
function gap(catalog: Catalog, identity: PricingIdentity, embeds: boolean): string | undefined {
  const rates = resolveRates(catalog, identity, now)
  if (rates.status === 'unpriced') return rates.reason
  const { prices } = rates.usual
  // Pictures are sold by the piece, some by their quality and size alone.
  if ([rates.usual, ...Object.values(rates.tiers)].some((sheet) => sheet.prices.image))
    return undefined
  if (prices.search_unit ?? prices.page ?? prices.character ?? prices.audio_second) return undefined
  if (prices.input === undefined) return 'missing_input_rate'
  return prices.output === undefined && !embeds ? 'missing_output_rate' : undefined
}

const google = startGoogleCloud()
afterAll(() => google.stop())

/** Good as any secret, one of the gateway's own keys too. */
const secret = (at: number) => `gwk_${String.fromCharCode(97 + at).repeat(16)}.${'b'.repeat(43)}`

const silent = pino({ level: 'silent' })

/** The factories of the bundled providers, made without anything that they would call. */
function factories() {
  const found: { readonly implementation: never; readonly plugin: string }[] = []
  const here = {
    ...{ config: {}, uses: {}, log: silent, signal: new AbortController().signal, ...noTelemetry },
    ...{ egress: {}, clock: { now: () => now } },
  }
  for (const { manifest, setup } of Object.values(builtins)) {
    if (manifest.providerTypes === undefined) continue
    const provide = (_: unknown, implementation: unknown) =>
      found.push({ implementation: implementation as never, plugin: manifest.id })
    void setup({ ...here, provide } as never)
  }
  return found
}

const registry = {
  provided: (point: { readonly name: string }) =>
    point.name === providerFactories.name ? factories() : [],
} as never

/** The routes of a config, as the gateway binds them. */
async function routesOf(page: string, text: string) {
  const names = [...text.matchAll(/\benv\.(\w+)/g)].map(([, name]) => name as string)
  const env = Object.fromEntries(names.map((name, at) => [name, secret(at % 26)]))
  const here = text.replace(/\/etc\/gateway\/\S+\.json/, google.serviceAccountFile())
  const loaded = requireLoaded(
    await readConfig({ text: here, file: join(ROOT, page) }, builtins, env),
  )
  const { bound: routes, dispose } = await createInstances(loaded, registry, silent)
  await dispose()
  const { overrides } = loaded.snapshot.section(pricingSection)
  return { routes: [...routes.values()], catalog: withOverrides(bundled, overrides) }
}

// A config of its own plugins has models that nobody sells.
const configs = [
  { page: 'gateway.example.yaml', text: read('gateway.example.yaml') },
  ...docsBlocks().filter(
    ({ page, language, text }) =>
      language === 'yaml' && /^providers:/m.test(text) && page !== 'docs/plugins.md',
  ),
]

test.each(configs.map(({ page, text }, at) => [page, at, text] as const))(
  'the routes of %s have a price, or the page says why not (config %d)',
  async (page, _, text) => {
    const { routes, catalog } = await routesOf(page, text)
    for (const { pricing, execute } of routes) {
      // Each name that a wildcard covers has its own price.
      if (isWildcard(pricing.model)) continue
      const found = gap(catalog, pricing, Object.keys(execute).join() === 'embeddings')
      if (found === 'provider_pricing_source_missing') expect(explained).toContain('of your own')
      else expect(`${pricing.model}: ${found}`).toBe(`${pricing.model}: undefined`)
    }
  },
)

test('every model that a page names is in a price list', () => {
  const pages = ['README.md', 'gateway.example.yaml']
  for (const glob of ['docs/**/*.md', 'providers/*/README.md', 'examples/**/*.md']) {
    pages.push(...new Bun.Glob(glob).scanSync(ROOT))
  }
  const model =
    /(?<![\w./-])(?:(?:google|anthropic)\/)?((?:[a-z]+\.)*(?:gpt|claude|gemini|text-embedding|text-multilingual-embedding|grok|amazon\.nova)-[\w.:@-]*\d[\w:@-]*)/g
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(model)].map(([, name]) => `${page}: ${name}`),
  )
  expect(named.length).toBeGreaterThan(20)
  const known = new Set([...bundled.values()].flatMap((models) => [...models.keys()]))
  expect(named.filter((each) => !known.has(each.split(': ')[1] ?? ''))).toEqual([])
})

test('the small model of every preset has a price, or the page says why not', () => {
  const gaps = presets.flatMap(({ type, pricing, smallModel: model, apis }) => {
    const identity = { pricingProviderId: pricing, model }
    const found = gap(bundled, identity, apis[0] === 'embeddings')
    const isExplained = pricing === undefined && explained.includes(`\`${type}\``)
    return found === undefined || isExplained ? [] : [`${type} ${model}: ${found}`]
  })
  expect(gaps).toEqual([])
})

test('every model of a price list that the page names has a price, or the page names it', () => {
  const named = presets.flatMap(({ pricing }) => pricing ?? [])
  const clouds = ['amazon-bedrock', 'azure', 'google-vertex', 'google-vertex-anthropic']
  const lists = [...named, 'anthropic', ...clouds]
  expect(lists).toContain('deepseek')
  // Sold by its input alone.
  const embeds =
    /embed|rank|image|moderation|decider|bge-|gte-|UAE-|voyage|ada|babbage|curie|davinci/i
  const gaps = lists.flatMap((pricingProviderId) =>
    [...(bundled.get(pricingProviderId)?.keys() ?? [])].flatMap((model) => {
      const found = gap(bundled, { pricingProviderId, model }, embeds.test(model))
      return found === undefined || globs.some((glob) => glob.match(model))
        ? []
        : [`${pricingProviderId} ${model}: ${found}`]
    }),
  )
  expect(gaps).toEqual([])
})
