import { StartError } from '../../kernel/boot/errors.ts'
import { type Vendor, vendors } from './known-providers.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A vendor whose required variables are all set. */
export interface FoundProvider {
  readonly vendor: Vendor
  /** The variable that named it. */
  readonly variable: string
  /** The key; undefined if the variable has the address of a server without a key. */
  readonly key: string | undefined
  /** Config fields that are written literally, such as `base_url`. */
  readonly fields: Readonly<Record<string, string>>
}

export interface Environment {
  readonly found: readonly FoundProvider[]
  /** One line for each variable that is set but cannot be used. */
  readonly skipped: readonly string[]
}

/**
 * The vendors whose keys are in the environment. Throws StartError for an address that is not a URL.
 *
 * @example readEnvironment({ OPENAI_API_KEY: 'sk-1' }).found.map(({ vendor }) => vendor.type)
 */
export function readEnvironment(env: Env): Environment {
  const found: FoundProvider[] = []
  const skipped: string[] = []
  for (const vendor of vendors) {
    const { type, name, keys, keyless, needs = {}, address } = vendor
    const faults = new Map(keys.map((key) => [key, faultOf(env[key])]))
    for (const [key, fault] of faults) if (fault) skipped.push(`${key} ${fault}: skipped`)
    const variable = addressVariableOf(type)
    const url = addressOf(env, variable)
    const usable = keys.find((key) => setTo(env, key) && faults.get(key) === undefined)
    const named = usable ?? (keyless && url ? variable : undefined)
    if (named === undefined) continue
    const fields = new Map(Object.entries(needs).map(([field, each]) => [field, setTo(env, each)]))
    if (url !== undefined) fields.set(address, url)
    const missing = Object.entries(needs).filter(([field]) => fields.get(field) === undefined)
    if (missing.length > 0) {
      const names = missing.map(([, each]) => each).join(' and ')
      skipped.push(`${named} is set, but ${name} also needs ${names}: skipped`)
      continue
    }
    const key = usable && setTo(env, usable)
    const written = Object.fromEntries(fields) as Record<string, string>
    found.push({ vendor, variable: named, key, fields: written })
  }
  return { found, skipped }
}

/** One line for each vendor found, and for each variable that cannot be used. */
export function* foundLines({ found, skipped }: Environment): Iterable<string> {
  for (const { vendor, variable } of found) {
    const { type, smallModel, pricing } = vendor
    const prices = pricing === undefined ? 'prices unknown' : 'prices known'
    yield `found ${variable}: serving ${type}/*, such as ${type}/${smallModel}; ${prices}`
  }
  yield* skipped
  if (found.length > 0) return
  yield 'no provider key in the environment: set OPENAI_API_KEY, ANTHROPIC_API_KEY or another and restart'
}

/**
 * The variable with another address of a vendor. Not OPENAI_BASE_URL and the like, because people
 * set those to point their agents at this gateway.
 */
function addressVariableOf(type: string): string {
  return `GATEWAY_${type.toUpperCase()}_BASE_URL`
}

function addressOf(env: Env, variable: string): string | undefined {
  const url = setTo(env, variable)
  if (url === undefined || /^https?:\/\/[^\s/]/.test(url)) return url
  throw new StartError(`${variable} must be a URL such as https://api.example.com/v1, got "${url}"`)
}

/** Why the value of a variable cannot be a key. */
function faultOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (value.trim() === '') return 'is empty'
  // Checked, because the key is sent in a header as it is.
  return /^[\x21-\x7e]+$/.test(value)
    ? undefined
    : 'contains a space or another character that keys cannot have'
}

/** Undefined for a variable that is absent or empty. */
function setTo(env: Env, name: string): string | undefined {
  return env[name]?.trim() || undefined
}
