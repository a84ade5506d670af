import { joinUrl } from '../../providers/_shared/compat-http.ts'
import type { KnownProvider } from '../../providers/_shared/environment.ts'
import { addressOf as anthropicAddress } from '../../providers/anthropic/config.ts'
import { anthropic } from '../../providers/anthropic/environment.ts'
import { addressOf as azureAddress } from '../../providers/azure-openai/config.ts'
import { azureOpenai } from '../../providers/azure-openai/environment.ts'
import { baseUrlOf } from '../../providers/gemini/config.ts'
import { gemini } from '../../providers/gemini/environment.ts'
import { type Preset, presets } from '../../providers/generic-compat/presets.ts'

/** A vendor, with the request that checks its key at the start. */
export interface Vendor extends KnownProvider {
  /** Whether its servers work without a key; then the variable with their address is enough. */
  readonly keyless: boolean
  /**
   * The request that lists its models, which is free and fails with a wrong key.
   *
   * @param address Undefined: the vendor's own.
   */
  list(key: string | undefined, address: string | undefined): Request
}

function fromPreset(preset: Preset): Vendor {
  return {
    ...preset,
    keyless: preset.auth === 'optional',
    list: (key, address = preset.baseUrl) =>
      listing(joinUrl(address, 'models'), key && { authorization: `Bearer ${key}` }),
  }
}

function listing(url: string, headers: Record<string, string> | '' | undefined): Request {
  return new Request(url, { headers: headers || {}, redirect: 'manual' })
}

/** https://platform.claude.com/docs/en/api/models-list */
const anthropicVendor: Vendor = {
  ...anthropic,
  keyless: false,
  list: (key = '', address) =>
    listing(joinUrl(anthropicAddress(stated(address)).baseUrl, 'models?limit=1000'), {
      'x-api-key': key,
      'anthropic-version': '2023-06-01',
    }),
}

/** https://ai.google.dev/api/models#method:-models.list */
const geminiVendor: Vendor = {
  ...gemini,
  keyless: false,
  list: (key = '', address) =>
    listing(joinUrl(baseUrlOf(stated(address)), 'models?pageSize=1000'), { 'x-goog-api-key': key }),
}

/** https://learn.microsoft.com/azure/ai-foundry/openai/latest#list-models */
const azureVendor: Vendor = {
  ...azureOpenai,
  keyless: false,
  list: (key = '', endpoint = '') =>
    listing(joinUrl(azureAddress({ endpoint }, '').baseUrl, 'models'), { 'api-key': key }),
}

const stated = (base_url: string | undefined) => (base_url === undefined ? {} : { base_url })

/** All vendors that the environment can enable, in display order. */
export const vendors: readonly Vendor[] = [
  anthropicVendor,
  geminiVendor,
  azureVendor,
  ...presets.map(fromPreset),
]
