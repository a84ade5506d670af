/** The config blocks of the page for users, checked as `gateway check-config` does. */
import { expect, test } from 'bun:test'
import { checkConfig } from '../../kernel/config/check.ts'
import { parseConfig } from '../../kernel/config/parse.ts'
import type { Config } from './config.ts'
import plugin from './index.ts'
import { apiStyles } from './styles.ts'

const loaded = { plugin, use: 'builtin:cloud-b-ml', path: ['plugins'], config: undefined }
const env = {
  AWS_ACCESS_KEY_ID: 'x',
  AWS_SECRET_ACCESS_KEY: 'x',
  AWS_BEARER_TOKEN_BEDROCK: 'x',
}

function check(text: string) {
  const parsed = parseConfig(text)
  return checkConfig(parsed, { plugins: [loaded], problems: [], complete: true }, env)
}

test('the page has a block without a problem for each auth mode and style', async () => {
  const page = await Bun.file(`${import.meta.dir}/../../docs/providers/bedrock.md`).text()
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
  const modes: unknown[] = []
  const styles = new Set<unknown>()
  for (const block of blocks) {
    const { loaded, problems } = check(block)
    expect(problems.filter(({ severity }) => severity !== 'warning')).toEqual([])
    for (const { spec, config } of loaded?.providers ?? []) {
      expect(spec.type).toBe('cloud_b_ml')
      modes.push((config as Config).auth?.mode)
    }
    for (const { routes } of loaded?.snapshot.models.values() ?? []) {
      for (const { compatibility } of routes) {
        styles.add((compatibility.cloud_b_ml as { api_style: string }).api_style)
      }
    }
  }
  expect(modes.slice(0, 3)).toEqual(['default_chain', 'static', 'bearer'])
  expect([...styles].sort()).toEqual([...apiStyles].sort())
})

test('an invalid combination is reported with its path and a hint', () => {
  const { problems } = check(`
providers:
  - { id: bedrock, type: bedrock, region: us-east-1 }
models:
  - id: m
    routes:
      - provider: bedrock
        upstream_model: anthropic.claude-opus-4-8
        capabilities: { responses: true, stream: true }
        compatibility: { bedrock: { api_style: runtime_native_invoke, base_path: /v1 } }
`)
  const route = ['models', 0, 'routes', 0]
  expect(problems.filter(({ severity }) => severity !== 'warning').map(({ path }) => path)).toEqual(
    [
      [...route, 'capabilities', 'responses'],
      [...route, 'capabilities', 'stream'],
      [...route, 'compatibility', 'bedrock', 'base_path'],
    ],
  )
  for (const { hint } of problems) expect(hint).toBeString()
})
