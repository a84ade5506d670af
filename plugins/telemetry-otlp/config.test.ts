import { describe, expect, test } from 'bun:test'
import { formatPath } from 'model-gateway/plugin'
import { readConfig } from '../../kernel/boot/read-config.ts'
import { asLoaded, check, minimal, wire } from '../../kernel/config/config.fixture.ts'
import { builtins } from '../standard/builtins.ts'
import { endpointsOf, telemetryKeys } from './config.ts'
import { exportSettings } from './export-environment.ts'
import telemetry from './index.ts'

const checked = (server: string) =>
  check(`server: ${server}\n${minimal}`, {}, asLoaded(telemetry, wire))
const lines = (server: string) =>
  checked(server).problems.map(({ path, message }) => `${formatPath(path)}: ${message}`)

describe('an OTLP endpoint', () => {
  const urls = (server: string) => {
    const { loaded } = checked(server)
    if (loaded === undefined) throw new Error('the config has mistakes')
    const { tracesUrl, metricsUrl } = endpointsOf(loaded.snapshot.section(telemetryKeys))
    return [tracesUrl, metricsUrl]
  }

  test.each(['http://otel:4318', 'http://otel:4318/'])('without a path is a base: %s', (url) => {
    expect(urls(`{ otel_endpoint: "${url}" }`)).toEqual([
      'http://otel:4318/v1/traces',
      'http://otel:4318/v1/metrics',
    ])
  })
  test('with a path is a base, too, and metrics may have a separate one', () => {
    expect(urls('{ otel_endpoint: "https://a/api/otlp/" }')).toEqual([
      'https://a/api/otlp/v1/traces',
      'https://a/api/otlp/v1/metrics',
    ])
    expect(
      urls('{ otel_endpoint: "https://a/otlp", otel_metrics_endpoint: "http://[::1]:1" }'),
    ).toEqual(['https://a/otlp/v1/traces', 'http://[::1]:1/v1/metrics'])
  })
  test('with the OTLP path of a signal is used as is, and determines the other one', () => {
    expect(urls('{ otel_endpoint: "https://a/v1/traces" }')).toEqual([
      'https://a/v1/traces',
      'https://a/v1/metrics',
    ])
    expect(urls('{ otel_metrics_endpoint: "https://a/otlp/v1/metrics/" }')).toEqual([
      undefined,
      'https://a/otlp/v1/metrics',
    ])
  })
  test('may be set only for metrics', () => {
    expect(urls('{ otel_metrics_endpoint: "http://m" }')).toEqual([
      undefined,
      'http://m/v1/metrics',
    ])
  })
  test.each(['otel:4318', 'http://', 'http://user:pass@otel', 'http://otel:4318/?a=b'])(
    'that is not a plain URL is refused: %s',
    (url) => {
      expect(lines(`{ otel_endpoint: "${url}" }`)).toEqual([
        'server.otel_endpoint: is not valid: write a URL such as http://collector:4318',
      ])
    },
  )
  test('requires a valid interval and ratio', () => {
    const server = '{ otel_export_interval_secs: 0, otel_trace_sample_ratio: 1.5 }'
    expect(lines(server)).toHaveLength(2)
  })
  test.each([
    ['otel_endpoint', 'http://host:99999'],
    ['otel_metrics_endpoint', 'http://999.1.1.1/v1/metrics'],
  ])('that only looks like a URL is refused: %s: %s', (key, url) => {
    const { loaded, problems } = checked(`{ ${key}: "${url}" }`)
    expect(loaded).toBeUndefined()
    expect(problems).toMatchObject([
      {
        path: ['server', key],
        message: 'is not a valid URL',
        hint: 'write http://host or https://host:port, with a port up to 65535',
        line: 1,
      },
    ])
  })
})

test('a gateway without the plugin refuses its keys, and names the plugin', async () => {
  const text = 'server: { otel_endpoint: "http://otel:4318" }\nplugins: []\n'
  const { problems } = await readConfig({ text, file: 'gateway.yaml' }, builtins, {})
  expect(problems).toContainEqual(
    expect.objectContaining({
      path: ['server', 'otel_endpoint'],
      message: 'is an unknown key',
      hint: 'load builtin:telemetry-otlp',
    }),
  )
})

test('nothing is exported without an endpoint, or if the environment disables it', () => {
  const server = { otel_export_interval_secs: 30, otel_trace_sample_ratio: 1 }
  const all = { ...server, otel_endpoint: 'http://otel:4318' }
  expect(exportSettings(server, '1', {})).toBeUndefined()
  expect(exportSettings(all, '1', { OTEL_SDK_DISABLED: ' True ' })).toBeUndefined()
  expect(exportSettings(all, '1', { OTEL_SERVICE_NAME: 'eu' })).toMatchObject({
    tracesUrl: 'http://otel:4318/v1/traces',
    exportIntervalMs: 30_000,
    traceSampleRatio: 1,
    resource: { 'service.name': 'eu', 'service.version': '1' },
    headers: {},
  })
})
