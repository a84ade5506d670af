import { expect, test } from 'bun:test'
import { Secret } from 'model-gateway/plugin'
import type { Egress } from 'model-gateway/provider'
import { accountOf } from './bind.ts'

/** https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch */
test('files and batches go to the resource, with its version where it has one', async () => {
  const sent: string[] = []
  const egress: Egress = {
    async send(_, url, { method, headers }) {
      sent.push(`${method} ${url} ${headers?.['api-key']}`)
      const body = (async function* () {})()
      return { status: 200, headers: new Headers(), body, bytes: async () => new Uint8Array() }
    },
  }
  const settings = { id: 'azure', defaultHeaders: {}, pricingProviderId: undefined }
  const options = { now: () => 0, warn() {} }
  const signal = new AbortController().signal
  for (const version of [{}, { api_version: '2025-01-01' }]) {
    const config = { endpoint: 'https://r.openai.azure.com', api_key: new Secret('k'), ...version }
    const account = accountOf(config, settings, egress, options)
    for (const path of ['files/f?x=1', 'batches']) {
      await account.send({ requestId: 'r', method: 'GET', path, signal })
    }
  }
  expect(sent).toEqual([
    'GET https://r.openai.azure.com/openai/v1/files/f?x=1 k',
    'GET https://r.openai.azure.com/openai/v1/batches k',
    'GET https://r.openai.azure.com/openai/files/f?x=1&api-version=2025-01-01 k',
    'GET https://r.openai.azure.com/openai/batches?api-version=2025-01-01 k',
  ])
})
