import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adminClient } from '../../harness/admin.ts'
import { adaKey, eventually, startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { type ScriptedMcpServer, startScriptedServer } from '../../harness/mcp-servers.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../harness/otlp.ts'

const ROOT = '/api/v1/admin/mcp/servers'
const CANARY = 'canary-9b2e'

let collector: OtlpReceiver
let server: ScriptedMcpServer
let gateway: TestGateway
beforeAll(async () => {
  collector = startOtlpReceiver()
  server = startScriptedServer()
  gateway = await startTestGateway({
    server: { otel_endpoint: collector.url, otel_export_interval_secs: 1 },
    mcp: { allow_private_networks: true },
  })
})
afterAll(async () => {
  delete process.env.GATEWAY_MCP_SECRET_TELEMETRY
  await gateway?.stop()
  await server?.stop()
  await collector?.stop()
})

test('a refresh is counted, timed and traced, with nothing of what the server said', async () => {
  process.env.GATEWAY_MCP_SECRET_TELEMETRY = `${CANARY}-token`
  server.tools = [{ name: 'one', description: `${CANARY}-description` }]
  const admin = await adminClient(gateway)
  const { server: made } = await admin.post<{ server: { mcp_server_id: string } }>(ROOT, {
    server_key: 'traced',
    display_name: 'Traced',
    server_url: `${server.url}?${CANARY}-query`,
    auth_mode: 'gateway_bearer_token',
    auth_config: { secret_ref: 'env/GATEWAY_MCP_SECRET_TELEMETRY' },
  })
  const server_id = made.mcp_server_id
  const refresh = () => admin.post(`${ROOT}/${server_id}/discovery-refresh`)
  await refresh()
  server.script = () => new Response(`${CANARY}-body`, { status: 503 })
  await refresh()

  const of = (metric: string) => collector.points.filter((point) => point.metric === metric)
  const counted = await eventually(async () => {
    const points = of('gateway.mcp.discovery.refreshes')
    return points.length === 2 ? points : undefined
  })
  expect(counted.map(({ labels, value }) => [labels, value])).toEqual([
    [{ server_id, result: 'success', status: 'success' }, 1],
    [{ server_id, result: 'error', status: 'failed' }, 1],
  ])
  expect(
    of('gateway.mcp.discovery.refresh.duration').map(({ labels, count }) => [labels, count]),
  ).toEqual([
    [{ server_id, result: 'success', status: 'success' }, 1],
    [{ server_id, result: 'error', status: 'failed' }, 1],
  ])
  const spans = await eventually(async () => {
    const found = collector.spans.filter(({ name }) => name === 'mcp.discovery.refresh')
    return found.length === 2 ? found : undefined
  }, 10_000)
  const attributes = {
    'gateway.mcp.server_id': server_id,
    'gateway.mcp.server_key': 'traced',
    'gateway.mcp.upstream_auth_mode': 'gateway_bearer_token',
  }
  expect(spans.map(({ attributes, failed }) => [attributes, failed])).toEqual([
    [{ ...attributes, 'gateway.mcp.discovery.status': 'success' }, false],
    [
      {
        ...attributes,
        'gateway.mcp.discovery.status': 'failed',
        'http.response.status_code': 503,
      },
      true,
    ],
  ])
  expect(collector.bodies.join('\n')).not.toContain(CANARY)
  expect(JSON.stringify(gateway.logs)).not.toContain(CANARY)
}, 20_000)

test('a call that its caller left is no failure of the server in its span', async () => {
  const admin = await adminClient(gateway)
  server.script = () => new Promise<Response>(() => {})
  const key = { server_key: 'slow', display_name: 'Slow', server_url: server.url }
  await admin.post(ROOT, { ...key, auth_mode: 'none' })
  const left = fetch(`${gateway.url}/mcp/slow`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adaKey}`,
      'content-type': 'application/json',
      'x-request-id': 'left',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    signal: AbortSignal.timeout(200),
  })
  await expect(left).rejects.toThrow()
  const span = await eventually(
    async () =>
      collector.spans.find(({ attributes }) => attributes['gateway.request_id'] === 'left'),
    10_000,
  )
  expect(span).toMatchObject({ failed: false, attributes: { 'error.type': 'client_abort' } })
  expect(span.attributes['http.response.status_code']).toBeUndefined()
}, 20_000)
