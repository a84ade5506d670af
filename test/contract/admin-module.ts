import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { type AdminRoute, adminModules } from 'model-gateway/admin'
import { isJsonObject } from 'model-gateway/plugin'
import { type AdminBench, type AdminReply, openAdminBench, type Who } from './admin-bench.ts'
import { expectNothingIn, TEST_MS } from './kit.ts'
import { type PluginBenchOptions, setUpPlugin } from './plugin-bench.ts'
import { looseObjects } from './schemas.ts'

/** One request and what comes of it. Cases share one database, in their order. */
export interface AdminCase {
  readonly name: string
  /** Default: a platform admin. */
  readonly as?: Who
  readonly method: AdminRoute['method']
  /** May be made of the `data` of the cases before. */
  readonly path: string | ((answers: readonly unknown[]) => string)
  readonly body?: unknown
  readonly status: number
  /** What the `data` of the answer holds at least. */
  readonly data?: unknown
  /** The code of a refusal. */
  readonly code?: string
}

export interface AdminModuleKit extends PluginBenchOptions {
  /** One for every route at least. */
  readonly cases: readonly AdminCase[]
  /** Routes that change something and are for anyone on purpose: `POST /api/v1/auth/login`. */
  readonly openTo?: readonly string[]
}

/** Routes that are ready to be asked. */
export interface AdminRoutesKit {
  readonly name: string
  open(): Promise<{ readonly routes: readonly AdminRoute[]; close(): Promise<void> }>
  readonly cases?: readonly AdminCase[]
  readonly openTo?: readonly string[]
}

/** What every admin module has to do, as tests, with a real database. Call it once for a plugin. */
export function testAdminModule(kit: AdminModuleKit): void {
  testAdminRoutes({
    ...kit,
    name: `the admin modules of ${kit.plugin.manifest.id}`,
    async open() {
      const bench = await setUpPlugin(kit)
      if (bench.error !== undefined) throw bench.error
      const routes = bench.of(adminModules).flatMap((module) => module.routes)
      return { routes, close: bench.dispose }
    },
  })
}

/** As `testAdminModule`, for routes of something that runs already. */
export function testAdminRoutes({ name, open, cases, openTo = [] }: AdminRoutesKit): void {
  describe(`contract of ${name}`, () => {
    let admin: AdminBench
    let routes: readonly AdminRoute[] = []
    let close = async () => {}

    beforeAll(async () => {
      ;({ routes, close } = await open())
      admin = openAdminBench(routes)
    }, TEST_MS)
    afterAll(() => close(), TEST_MS)

    const protectedRoutes = () => routes.filter(({ audience }) => audience !== 'anyone')
    const nameOf = ({ method, path }: AdminRoute) => `${method} ${path}`

    test('each route has an address of its own below /api/v1, a tag and a summary', () => {
      expect(routes.length).toBeGreaterThan(0)
      const names = routes.map((route) => nameOf(route).replaceAll(/\{\w+\}/g, '{}'))
      expectNothingIn(names.filter((name, at) => names.indexOf(name) !== at))
      for (const { path, tag, summary } of routes) {
        expect(path).toMatch(/^\/api\/v1\/[a-z0-9{}_./-]*[a-z0-9}_-]$/)
        expect(tag).not.toBe('')
        expect(summary).not.toBe('')
      }
    })

    test('its schemas name the parameters of its path and refuse unknown members', () => {
      for (const { path, params, query, body } of routes) {
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
        expect(Object.keys(params?.properties ?? {}).toSorted()).toEqual(named.toSorted())
        expectNothingIn([...looseObjects(query, 'query'), ...looseObjects(body, 'body')])
      }
    })

    test('its changes are for a session or an API key', () => {
      expectNothingIn(
        routes
          .filter(({ method, audience }) => method !== 'GET' && audience === 'anyone')
          .map(nameOf)
          .filter((route) => !openTo.includes(route))
          .map((route) => `${route} is for anyone`),
      )
    })

    test(
      'nobody gets past the audience of a route',
      async () => {
        for (const route of protectedRoutes()) {
          expect([nameOf(route), (await call(route, 'nobody')).status]).toEqual([
            nameOf(route),
            401,
          ])
          if (route.audience !== 'platform_admin') continue
          expect([nameOf(route), (await call(route, 'user')).status]).toEqual([nameOf(route), 403])
        }
      },
      TEST_MS,
    )

    const answers: unknown[] = []
    const shown = new Set<AdminRoute>()
    for (const each of cases ?? []) {
      test(
        `case: ${each.name}`,
        async () => {
          const { method, body, as = 'platform_admin' } = each
          const path = typeof each.path === 'string' ? each.path : each.path(answers)
          const reply = await admin.request(as, method, path, body)
          answers.push(reply.data)
          expect([reply.status, reply.code]).toEqual([each.status, each.code])
          if (each.data !== undefined) expect(reply.data).toMatchObject(each.data as object)
          const route = routes.find((candidate) => serves(candidate, method, path))
          if (route === undefined) throw new Error(`no route serves ${method} ${path}`)
          if (reply.status < 300) {
            shown.add(route)
            expectFits(route, reply)
          } else if (reply.code !== undefined) expectKnown(route, reply.code)
        },
        TEST_MS,
      )
    }

    test('every route is shown by a case that ends well', () => {
      if (cases === undefined) return
      expectNothingIn(routes.filter((route) => !shown.has(route)).map(nameOf))
    })

    test(
      'whatever it is sent, the fault is not the gateway’s',
      async () => {
        const wrong: string[] = []
        for (const route of routes) {
          const sample = route.body === undefined ? undefined : sampleOf(route)
          const bodies = route.body === undefined ? [undefined] : oddBodies(route)
          const ids = route.path.includes('{') ? oddIds : []
          const asked: readonly (readonly [body: unknown, id?: string])[] = [
            ...bodies.map((body) => [body] as const),
            ...ids.map((id) => [sample, id] as const),
          ]
          for (const [body, id] of asked) {
            const reply = await call(route, 'platform_admin', body, id)
            if (reply.status < 500) continue
            const shown = JSON.stringify([body, id])?.slice(0, 100)
            wrong.push(`${nameOf(route)} with ${shown}: ${admin.faults.at(-1)}`)
          }
        }
        expectNothingIn(wrong)
      },
      4 * TEST_MS,
    )

    test(
      'an id that nothing has is a 404',
      async () => {
        for (const route of routes.filter(({ path }) => path.endsWith('}'))) {
          const body = route.body === undefined ? undefined : sampleOf(route)
          if (route.body !== undefined && !Value.Check(route.body, body)) continue
          if (route.method === 'PUT') continue
          const id = crypto.randomUUID()
          const { status } = await call(route, 'platform_admin', body, id)
          expect([nameOf(route), status]).toEqual([nameOf(route), 404])
        }
      },
      TEST_MS,
    )

    function call(route: AdminRoute, as: Who, body?: unknown, id: string = crypto.randomUUID()) {
      const path = route.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(id))
      return admin.request(as, route.method, path, body)
    }
  })
}

const oddIds = [crypto.randomUUID(), "';--", '..', '%00', '\0', 'x'.repeat(5_000), '海']

const oddTexts = ['', "'; drop table t; --", '\0', '\ud800', '海', '海'.repeat(3_000), '__proto__']

function oddBodies(route: AdminRoute): unknown[] {
  const sample = sampleOf(route)
  const spoilt = isJsonObject(sample)
    ? Object.keys(sample).flatMap((name) =>
        [...oddTexts, -1, 1e300, null, [], {}].map((value) => ({ ...sample, [name]: value })),
      )
    : []
  return [null, [], {}, 'text', 0, sample, ...spoilt]
}

/** Something of the shape of a route's body, as far as a schema can be read for one. */
function sampleOf({ body }: AdminRoute): unknown {
  if (!isJsonObject(body) || !isJsonObject(body.properties)) return undefined
  return Object.fromEntries(
    Object.entries(body.properties).map(([name, schema]) => {
      const { type, enum: words, minimum, minLength } = schema as Record<string, unknown>
      if (Array.isArray(words)) return [name, words[0]]
      if (type === 'integer' || type === 'number') return [name, minimum ?? 1]
      if (type === 'boolean') return [name, true]
      if (type === 'array') return [name, []]
      return [name, 'sample'.padEnd(Number(minLength ?? 0), 'x')]
    }),
  )
}

function serves(route: AdminRoute, method: string, path: string): boolean {
  const pattern = route.path.replaceAll(/\{\w+\}/g, '[^/]+')
  return route.method === method && new RegExp(`^${pattern}$`).test(path.split('?')[0] as string)
}

function expectFits(route: AdminRoute, reply: AdminReply): void {
  const { status = 200, contentType } = route
  expect(reply.status).toBe(status)
  if (status === 204) return
  const result = contentType === undefined ? reply.data : reply.text
  const faults = [...Value.Errors(route.result, result)]
  expectNothingIn(faults.map(({ path, message }) => `the answer's ${path}: ${message}`))
}

/** Codes that the gateway gives by itself. */
const ofAllRoutes = [
  'invalid_request',
  'validation_failed',
  'session_required',
  'insufficient_privileges',
  'csrf_rejected',
  'request_body_too_large',
  'store_unavailable',
]

function expectKnown({ errors = [], params }: AdminRoute, code: string): void {
  const known = [...ofAllRoutes, ...errors, ...(params === undefined ? [] : ['not_found'])]
  expect(known).toContain(code)
}
