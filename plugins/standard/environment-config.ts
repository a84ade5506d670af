import type { FoundProvider } from './environment.ts'

const HEAD = `# Made by 'gateway init' from the keys in the environment. gateway.example.yaml, and
# docs/configuration.md, show all that can be set. 'gateway check-config' reports mistakes; a running
# gateway reads this file again at a SIGHUP.
`

const SIMULATOR = `providers:
  # Deterministic replies, made on this machine: to try the gateway without a vendor.
  - id: simulator
    type: simulator
    pricing_provider_id: simulator
`

const DEMO = `
models:
  - id: demo
    description: Deterministic replies, made on this machine
    tags: [demo]
    routes:
      - provider: simulator
        upstream_model: simulator-1
`

/** Prices of the demo, users, and what most people add first. */
const REST = `
pricing:
  overrides:
    - pricing_provider_id: simulator
      model: simulator-1
      input_usd_per_million: "1"
      output_usd_per_million: "3"

users:
  - name: Demo
    email: demo@example.com
    # What this user may spend; with hard_limit calls beyond it are refused.
    #budget: { cadence: monthly, amount_usd: "50", hard_limit: true }

auth:
  # The first start prints a key of this user, and an account for the console.
  quickstart_user: demo@example.com
`

/**
 * A whole config, as commented YAML: the demo, a provider for each vendor that was found, and one
 * wildcard model for each of those. Keys are in it as references to their variables.
 */
export function configOf(found: readonly FoundProvider[]): string {
  const providers = found.map(providerEntry).join('')
  const models = found.map(({ vendor }) => modelEntry(vendor.type, vendor.name)).join('')
  return `${HEAD}${SIMULATOR}${providers}${DEMO}${models}${aliasExample(found[0])}${REST}`
}

function providerEntry({ vendor, variable, key, fields }: FoundProvider): string {
  const { type, name, page } = vendor
  const secret = key === undefined ? '' : `    api_key: env.${variable}\n`
  const others = Object.entries(fields).map(([field, value]) => `    ${field}: ${quoted(value)}\n`)
  return `  # ${name}: ${page}\n  - id: ${type}\n    type: ${type}\n${secret}${others.join('')}`
}

function modelEntry(type: string, name: string): string {
  return `  # All models of ${name}, called ${type}/NAME.
  - id: ${quoted(`${type}/*`)}
    routes:
      - provider: ${type}
        upstream_model: "*"
`
}

function aliasExample(first: FoundProvider | undefined): string {
  const model = first === undefined ? 'demo' : `${first.vendor.type}/${first.vendor.smallModel}`
  return `  # A name that stays when the model behind it changes.
  #- { id: fast, alias_of: ${model} }
`
}

/** JSON text is YAML, whatever is in it. */
const quoted = (value: string) => JSON.stringify(value)
