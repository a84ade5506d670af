import { describe, expect, test } from 'bun:test'
import { type Attributes, type Histogram, ValueType } from '@opentelemetry/api'
import * as metrics from '@opentelemetry/sdk-metrics'
import fc from 'fast-check'
import { createHistograms } from './histograms.ts'

const BOUNDARIES = [0.1, 1, 2.5, 10]

/** A meter of the SDK, and one with the gateway's histograms. */
function meters(mostSeries = 100) {
  const reader = new (class extends metrics.MetricReader {
    protected override onForceFlush = async () => {}
    protected override onShutdown = async () => {}
  })()
  const sdk = new metrics.MeterProvider({ readers: [reader] })
  const histograms = createHistograms(mostSeries)
  const own = histograms.meters(sdk)
  const pointsOf = (scopes: readonly metrics.ScopeMetrics[]) =>
    scopes
      .flatMap(({ scope, metrics: all }) => all.map((metric) => ({ scope: scope.name, metric })))
      .flatMap(({ scope, metric }) =>
        (metric as metrics.HistogramMetricData).dataPoints.map(({ attributes, value }) => ({
          scope,
          descriptor: { name: metric.descriptor.name, unit: metric.descriptor.unit },
          temporality: metric.aggregationTemporality,
          type: metric.dataPointType,
          attributes,
          value,
        })),
      )
  return {
    sdk,
    own,
    sdkPoints: async () => pointsOf((await reader.collect()).resourceMetrics.scopeMetrics),
    ownPoints: () => pointsOf(histograms.collect()),
    ownScopes: () => histograms.collect().map(({ scope }) => scope.name),
  }
}

const options = { unit: 's', advice: { explicitBucketBoundaries: BOUNDARIES } }

test('values produce the same points as in the SDK, for any labels', async () => {
  const labels: fc.Arbitrary<Attributes> = fc
    .record({ server: fc.constantFrom('a', 'b'), status: fc.constantFrom(200, 502) })
    .chain((made) =>
      fc.constantFrom<Attributes>(
        made,
        Object.freeze({ ...made }),
        { status: made.status, server: made.server },
        {},
      ),
    )
  const value = fc.oneof(
    fc.double({ min: 0, max: 20, noNaN: true }),
    fc.constantFrom(...BOUNDARIES, 0, -1),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(value, labels)), async (records) => {
      const { sdk, own, sdkPoints, ownPoints } = meters()
      const both = [sdk, own].map((provider) =>
        provider.getMeter('plugin.a').createHistogram('h', options),
      ) as [Histogram, Histogram]
      for (const [recorded, its] of records) for (const one of both) one.record(recorded, its)
      expect(ownPoints()).toEqual(await sdkPoints())
    }),
  )
})

describe('labels', () => {
  test('that are changed and reused are different labels', () => {
    const { own, ownPoints } = meters()
    const histogram = own.getMeter('m').createHistogram('h', options)
    const labels: Attributes = { status: 1 }
    histogram.record(1, labels)
    labels.status = 2
    histogram.record(2, labels)
    histogram.record(3)
    expect(ownPoints().map(({ attributes, value }) => [attributes, value.sum])).toEqual([
      [{ status: 1 }, 1],
      [{ status: 2 }, 2],
      [{}, 3],
    ])
  })

  test('beyond the maximum are counted together', () => {
    const { own, ownPoints } = meters(3)
    const histogram = own.getMeter('m').createHistogram('h', options)
    for (let n = 0; n < 10; n++) histogram.record(1, Object.freeze({ n }))
    histogram.record(1, Object.freeze({ n: 0 }))
    expect(ownPoints().map(({ attributes, value }) => [attributes, value.count])).toEqual([
      [{ n: 0 }, 2],
      [{ n: 1 }, 1],
      [{ n: 2 }, 1],
      [{ 'otel.metric.overflow': true }, 7],
    ])
  })
})

test('a histogram that is created again is the same one, within its scope', () => {
  const { own, ownPoints } = meters()
  for (const scope of ['a', 'a', 'b']) {
    own.getMeter(scope).createHistogram('h', options).record(1)
  }
  expect(ownPoints().map(({ scope, value }) => [scope, value.count])).toEqual([
    ['a', 2],
    ['b', 1],
  ])
})

test('integers and default boundaries are as in the SDK', async () => {
  const { sdk, own, sdkPoints, ownPoints } = meters()
  for (const provider of [sdk, own]) {
    const meter = provider.getMeter('m')
    meter.createHistogram('int', { valueType: ValueType.INT }).record(7.9)
    meter.createHistogram('usual').record(600)
  }
  expect(ownPoints()).toEqual(await sdkPoints())
})

test('invalid values are not counted, and empty histograms are not exported', () => {
  const { own, ownScopes } = meters()
  const histogram = own.getMeter('m').createHistogram('h', options)
  for (const value of [Number.NaN, -0.1]) histogram.record(value)
  expect(ownScopes()).toEqual([])
  histogram.record(1)
  expect(ownScopes()).toEqual(['m'])
})

test('all other instruments stay those of the SDK', async () => {
  const { own, sdkPoints } = meters()
  own.getMeter('m').createCounter('c').add(2)
  expect((await sdkPoints()).map(({ descriptor }) => descriptor.name)).toEqual(['c'])
})
