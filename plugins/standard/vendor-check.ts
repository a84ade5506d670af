import type { JsonValue } from 'model-gateway/plugin'
import { credentialForms, maskForms, readErrorWords } from 'model-gateway/wire'
import type { FoundProvider } from './environment.ts'

const DEADLINE_MS = 10_000

/**
 * Lists the models of a vendor, which is free, to check its key. Resolves to a message; undefined
 * if the vendor is unreachable or has no such list.
 */
export async function askVendor(
  { vendor, variable, key, fields }: FoundProvider,
  ended: AbortSignal,
): Promise<string | undefined> {
  const signal = AbortSignal.any([ended, AbortSignal.timeout(DEADLINE_MS)])
  try {
    const reply = await fetch(vendor.list(key, fields[vendor.address]), { signal })
    const text = await reply.text()
    if (reply.ok) {
      const count = countOf(parse(text))
      return count === undefined ? undefined : `${variable}: ${vendor.name} lists ${count} models`
    }
    // Not all have the list.
    if (reply.status === 404 || reply.status === 405) return undefined
    const words = readErrorWords(parse(text)).message ?? reply.statusText
    const told = maskForms(
      words.replaceAll(/\s+/g, ' ').slice(0, 300),
      credentialForms([key ?? '']),
    )
    return `${variable}: ${vendor.name} answered ${reply.status}: ${told} (${vendor.page})`
  } catch {
    return undefined
  }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/** OpenAI, Anthropic: `{data: […]}`; Google: `{models: […]}`; Together: `[…]`. */
function countOf(list: JsonValue | undefined): number | undefined {
  const lists = Array.isArray(list) ? [list] : Object.values(list ?? {})
  return lists.find((each) => Array.isArray(each))?.length
}
