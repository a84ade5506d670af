import { expect, test } from 'bun:test'
import { checkConfig } from '../kernel/config/check.ts'
import { parseConfig } from '../kernel/config/parse.ts'
import cloudRun from './cloud-a-serverless-compat/index.ts'
import bedrock from './cloud-b-ml/index.ts'
import genericCompat from './generic-compat/index.ts'

const profile = 'supports_store: false'
const provider = {
  openai_compat: 'base_url: https://openrouter.ai/api/v1',
  cloud_run: 'base_url: https://x.run.app/v1',
  bedrock: 'region: us-east-1',
}

test.each([
  ['openai_compat', genericCompat, `openai_compat: { ${profile} }`, 'generic_compat'],
  ['openai_compat', genericCompat, 'openrouter: { provider: { zdr: true } }', 'aggregator'],
  ['cloud_run', cloudRun, `openai_compat: { ${profile} }`, 'generic_compat'],
  ['bedrock', bedrock, 'bedrock: { api_style: runtime_unified }', 'cloud_b_ml'],
] as const)('of a %s provider: %#', (type, plugin, block, name) => {
  const check = (compatibility: string) =>
    checkConfig(
      parseConfig(`
providers: [{ id: up, type: ${type}, ${provider[type]} }]
models:
  - id: m
    routes: [{ provider: up, upstream_model: m, compatibility: { ${compatibility} } }]
`),
      {
        plugins: [{ plugin: plugin as never, use: 'builtin:it', path: ['plugins'], config: {} }],
        problems: [],
        complete: true,
      },
      {},
    )
  const { loaded, problems } = check(block)
  expect(problems).toEqual([])
  const route = loaded?.snapshot.models.get('m')?.routes[0]
  expect(Object.keys(route?.compatibility ?? {})).toEqual([name])
  const alias = block.split(':', 1)[0]
  const twice = check(`${block}, ${block.replace(`${alias}:`, `${name}:`)}`)
  expect(twice.problems.map(({ path, message }) => [path.at(-1), message])).toEqual([
    [alias, `is another name for ${name}`],
  ])
})
