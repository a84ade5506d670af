/** The config blocks of the pages for users, checked as `gateway check-config` does. */
import { afterAll, describe, expect, test } from 'bun:test'
import { checkConfig } from '../../kernel/config/check.ts'
import { parseConfig } from '../../kernel/config/parse.ts'
import pricingCatalog from '../../plugins/pricing-catalog/index.ts'
import { startGoogleCloud } from '../../test/harness/upstream-clouds-google.ts'
import cloudAMl from '../cloud-a-ml/index.ts'
import cloudAServerlessCompat from '../cloud-a-serverless-compat/index.ts'

const plugins = [cloudAMl, cloudAServerlessCompat, pricingCatalog].map((plugin) => ({
  plugin,
  use: `builtin:${plugin.manifest.id}`,
  path: ['plugins'],
  config: undefined,
}))
const env = { VERTEX_TOKEN: 'x', CLOUD_RUN_TOKEN: 'x' }
const cloud = startGoogleCloud()
afterAll(() => cloud.stop())
const MODES = ['adc', 'service_account', 'bearer']

describe.each([
  ['vertex-ai.md', 'cloud_a_ml'],
  ['cloud-run.md', 'cloud_a_serverless_compat'],
])('%s', (page, type) => {
  test('has a working block for each auth mode', async () => {
    const text = await Bun.file(`${import.meta.dir}/../../docs/providers/${page}`).text()
    const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
    const modes = blocks.map((block) => {
      const parsed = parseConfig(block.replace(/\/etc\/gateway\/\S+/, cloud.serviceAccountFile()))
      const { loaded, problems } = checkConfig(
        parsed,
        { plugins, problems: [], complete: true },
        env,
      )
      expect(problems.filter(({ severity }) => severity !== 'warning')).toEqual([])
      const [provider] = loaded?.providers ?? []
      if (provider === undefined) throw new Error('the block has no provider')
      expect(provider.spec.type).toBe(type)
      return (provider.config.auth as { mode: string }).mode
    })
    expect(modes).toEqual(MODES)
  })
})

test('a relative or prefixed credentials_file has a hint', () => {
  for (const path of ['vertex.json', 'file./etc/vertex.json', 'env.FILE']) {
    const text = `providers: [{ id: v, type: vertex_ai, project_id: p, auth: { mode: service_account, credentials_file: ${path} } }]`
    const parsed = parseConfig(text)
    const { problems } = checkConfig(parsed, { plugins, problems: [], complete: true }, env)
    expect(problems.filter(({ severity }) => severity !== 'warning')).toMatchObject([
      {
        path: ['providers', 0, 'auth', 'credentials_file'],
        message: expect.stringContaining('absolute path'),
      },
    ])
  }
})

test.each([
  ['is not there', () => '/gone/vertex.json', 'the file /gone/vertex.json cannot be read (ENOENT)'],
  ['is text', () => cloud.file('PRIVATE KEY'), 'is not a JSON object'],
  ['is a person’s', () => cloud.authorizedUserFile(), 'not a service account'],
])('a credentials_file that %s is found before the start', (_, file, message) => {
  const auth = `auth: { mode: service_account, credentials_file: ${file()} }`
  for (const provider of [
    `type: vertex_ai, project_id: p, ${auth}`,
    `type: cloud_run, base_url: "https://run.example.com/v1", ${auth}`,
  ]) {
    const parsed = parseConfig(`providers: [{ id: v, ${provider} }]`)
    const { problems } = checkConfig(parsed, { plugins, problems: [], complete: true }, env)
    expect(problems.filter(({ severity }) => severity !== 'warning')).toMatchObject([
      {
        path: ['providers', 0, 'auth', 'credentials_file'],
        message: expect.stringContaining(message),
      },
    ])
  }
})
