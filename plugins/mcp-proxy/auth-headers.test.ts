import { expect, test } from 'bun:test'
import { GatewayError } from 'model-gateway/plugin'
import { authHeadersOf } from './auth-headers.ts'
import type { McpGatewayAuthMode, McpServer } from './contract.ts'
import { createWatches } from './watch.ts'

function ask(headers: McpGatewayAuthMode['headers'], abort = false) {
  const watch = createWatches()(() => new AbortController().signal)
  if (abort) watch.upstream.abort(new Error('the caller disconnected'))
  const mode = { mode: 'vault', headers } as McpGatewayAuthMode
  return authHeadersOf(mode, {} as McpServer, watch)
}

test('a GatewayError of an auth mode is passed on; other errors get its name', async () => {
  const away = new GatewayError('upstream_timeout', 'the token server is away')
  await expect(ask(() => Promise.reject(away))).rejects.toBe(away)
  const fault = new Error('no such property')
  const failed = ask(() => Promise.reject(fault))
  await expect(failed).rejects.toMatchObject({
    message: 'the auth mode vault failed',
    cause: fault,
  })
})

test('a call that is given up fails for that, whatever its auth mode says', async () => {
  await expect(ask(() => new Promise(() => {}), true)).rejects.toThrow('the caller disconnected')
})
