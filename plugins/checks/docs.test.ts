/** Checks the config blocks of the guide as `gateway check-config` does. */

import { expect, test } from 'bun:test'
import type { ManagedCheckSpec } from 'model-gateway/guardrail'
import { checkConfig } from '../../kernel/config/check.ts'
import { parseConfig } from '../../kernel/config/parse.ts'
import guardrails from '../guardrails/index.ts'
import cloudASanitizer from './cloud-a-sanitizer/index.ts'
import cloudBGuardrail from './cloud-b-guardrail/index.ts'

const checks = [cloudBGuardrail, cloudASanitizer]
const plugins = [guardrails, ...checks].map((plugin) => ({
  plugin,
  use: `builtin:${plugin.manifest.id}`,
  path: ['plugins'],
  config: undefined,
}))
const env = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x', MODEL_ARMOR_TOKEN: 'x' }

/** Only problems of the section, because the blocks are parts of a file. */
function problemsOf(text: string) {
  const parsed = parseConfig(text)
  const { problems } = checkConfig(parsed, { plugins, problems: [], complete: true }, env)
  return problems.filter(({ path }) => path[0] === 'guardrails')
}

const page = await Bun.file(`${import.meta.dir}/../../docs/managed-checks.md`).text()
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block]) => block ?? '')

test('the page has a block without a problem for each kind, and names its alias', () => {
  const specs = checks
    .flatMap(({ manifest }) => manifest.declares ?? [])
    .map(({ spec }) => spec as ManagedCheckSpec)
  expect(blocks).toHaveLength(specs.length)
  for (const [n, { kind, aliases = [] }] of specs.entries()) {
    expect(blocks[n]).toContain(`kind: ${kind}\n`)
    expect(problemsOf(blocks[n] ?? '')).toEqual([])
    for (const alias of aliases) {
      expect(page).toContain(`Alias \`${alias}\``)
      expect(problemsOf((blocks[n] ?? '').replace(`kind: ${kind}`, `kind: ${alias}`))).toEqual([])
    }
  }
})

test('a problem in the settings of a kind is reported with its position in the file', () => {
  const [bedrock = '', armor = ''] = blocks
  const paths = (text: string) => problemsOf(text).map(({ path }) => path.join('.'))
  const at = 'guardrails.managed_checks'
  expect(paths(bedrock.replace('gr1abc23def4', 'GR-1'))).toEqual([
    `${at}.bedrock.cloud_b_guardrail.guardrail_identifier`,
  ])
  expect(paths(armor.replace('location: europe-west4', 'location: us-central1'))).toEqual([
    `${at}.armor.cloud_a_sanitizer.prompt_template`,
    `${at}.armor.cloud_a_sanitizer.response_template`,
  ])
  expect(paths(armor.replace('mcp_call', 'generated_tool_call'))).toEqual([`${at}.armor.phases.2`])
})
