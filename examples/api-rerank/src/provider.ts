import { GatewayError, isJsonObject, type JsonObject, type Secret } from 'model-gateway/plugin'
import {
  type Egress,
  type Execute,
  type Provider,
  type ProviderSettings,
  type RouteSpec,
  upstreamHttpError,
} from 'model-gateway/provider'
import { credentialForms, maskForms } from 'model-gateway/wire'
import { RERANK } from './dialect.ts'

export interface RerankSettings extends ProviderSettings {
  readonly base_url: string
  readonly api_key: Secret
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** One entry of `providers` in the config. */
export function createProvider(settings: RerankSettings, egress: Egress): Provider {
  const url = `${settings.base_url.replace(/\/+$/, '')}/rerank`

  function executor({ upstreamModel, extraHeaders, extraBody }: RouteSpec): Execute {
    return async (call) => {
      const key = await settings.api_key.revealCurrent()
      const response = await egress.send(call, url, {
        method: 'POST',
        headers: {
          ...settings.defaultHeaders,
          ...extraHeaders,
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
        },
        body: JSON.stringify({ ...call.body, model: upstreamModel, ...extraBody }),
      })
      const bytes = await response.bytes()
      // A vendor may echo the key, in replies as well as in errors.
      const redact = (words: string) => maskForms(words, credentialForms([key]))
      const { status } = response
      if (status !== 200) throw upstreamHttpError(status, redact(wordsOf(bytes, status)))
      const rawBody = redact(decode(bytes))
      // With its text, the reply is returned unchanged except for the model's name.
      return { kind: 'buffered', body: parse(rawBody), rawBody }
    }
  }

  return {
    bind: (route) => ({
      supports: [],
      pricing: { pricingProviderId: settings.pricingProviderId, model: route.upstreamModel },
      execute: { [RERANK]: executor(route) },
    }),
  }
}

/** The message of an error status: the vendor's `message`, if present. */
function wordsOf(bytes: Uint8Array, status: number): string {
  try {
    const { message } = parse(decode(bytes))
    if (typeof message === 'string') return message
  } catch {
    // Not JSON, for example an error page of a proxy: the status is enough.
  }
  return `the vendor answered with status ${status}`
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw unreadable('it is not UTF-8', cause)
  }
}

function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw unreadable('it is not JSON', cause)
  }
  if (!isJsonObject(value)) throw unreadable('it is not an object')
  return value
}

function unreadable(why: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_transport', `malformed reply of the vendor: ${why}`, {
    cause,
  })
}
