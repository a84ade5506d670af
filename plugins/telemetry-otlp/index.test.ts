import { afterAll, expect, test } from 'bun:test'
import { setUpPlugin } from 'model-gateway/testing'
import { startOtlpReceiver } from '../../test/harness/otlp.ts'
import telemetry from './index.ts'

const receiver = startOtlpReceiver()
afterAll(() => receiver.stop())

/** Extension points that the plugin provides with these keys of section `server`. */
async function points(keys: Record<string, unknown>, serves = true) {
  const server = { otel_export_interval_secs: 30, otel_trace_sample_ratio: 1, ...keys }
  const config = {
    version: 'v',
    models: new Map(),
    providers: new Map(),
    section: () => server as never,
  }
  const bench = await setUpPlugin({
    plugin: telemetry,
    capabilities: { start: { version: '1.2.3', config, serves } },
  })
  await bench.dispose()
  expect(bench.error).toBeUndefined()
  return bench.provided.map(({ point }) => point.name)
}

test('observes only the exported signals', async () => {
  const all = ['observers', 'observers', 'mcp_observers']
  expect(await points({ otel_endpoint: receiver.url })).toEqual(all)
  expect(await points({ otel_metrics_endpoint: receiver.url })).toEqual(['observers'])
  expect(await points({})).toEqual([])
})

test('a command exports nothing', async () => {
  expect(await points({ otel_endpoint: receiver.url }, false)).toEqual([])
})
