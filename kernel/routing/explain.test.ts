import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { features, GatewayError } from '../plugin/index.ts'
import type { GatewayModel, Route } from './catalog.ts'
import { explainRoutes } from './explain.ts'
import { planRoute } from './plan.ts'

const flags = ['chat_completions', 'responses', 'embeddings', ...features]
const flag = fc.constantFrom(...flags)

const anyRoute = fc
  .record({
    priority: fc.constantFrom(50, 100, 200),
    weight: fc.constantFrom(-1, 0, 1, 3),
    enabled: fc.boolean(),
    without: fc.uniqueArray(flag, { maxLength: 2 }),
  })
  .map(({ without, ...spec }): Route => {
    const capabilities = Object.fromEntries(flags.map((f) => [f, !without.includes(f)]))
    const bound = { supports: [], pricing: { pricingProviderId: undefined, model: 'x' } }
    return { spec, bound, capabilities } as unknown as Route
  })

function modelOf(routes: readonly Route[]): GatewayModel {
  const tags = new Set<string>()
  return { id: 'm', tags, rank: 1, allowlist: undefined, executionModel: 'm', routes }
}

test('the routes that are explained as kept are those that are drawn, with their shares', () => {
  const needs = fc.uniqueArray(flag, { maxLength: 2 })
  fc.assert(
    fc.property(
      fc.array(anyRoute, { maxLength: 5 }),
      needs,
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      (routes, needed, draws) => {
        const model = modelOf(routes)
        const fates = explainRoutes(model, needed)
        const kept = fates.filter(({ fault }) => fault === undefined)
        expect(fates.map(({ spec }) => spec)).toEqual(routes.map(({ spec }) => spec))
        for (const { fault, share } of fates) expect(share > 0).toBe(fault === undefined)
        if (kept.length === 0) {
          expect(() => planRoute(model, needed, () => 0.5)).toThrow(GatewayError)
          return
        }
        const weights = kept.reduce((sum, { spec }) => sum + spec.weight, 0)
        for (const { spec, share } of kept) {
          expect(share).toBeCloseTo(spec.weight / weights)
        }
        for (let i = 0; i < 5; i++) {
          const drawn = planRoute(model, needed, () => draws.next().value ?? 0)
          expect(kept.map(({ spec }) => spec)).toContain(drawn.route.spec)
        }
      },
    ),
  )
})

test('a route that refuses a request is explained with its reason', () => {
  const [a, b] = fc.sample(anyRoute, 2).map((route) => ({
    ...route,
    spec: { ...route.spec, enabled: true, weight: 1, priority: 1 },
  })) as [Route, Route]
  const error = new GatewayError('invalid_request', 'not this one')
  const refusal = (route: Route) => (route === a ? error : undefined)
  expect(explainRoutes(modelOf([a, b]), [], refusal)).toMatchObject([
    { spec: a.spec, fault: { reason: 'refuses', error }, share: 0 },
    { spec: b.spec, fault: undefined, share: 1 },
  ])
})
