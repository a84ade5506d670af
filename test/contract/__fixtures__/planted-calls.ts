/** Faults of accounting sinks, admin modules and middlewares. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AccountingSink, accountingSinks } from 'model-gateway/accounting'
import { type AdminRoute, adminModules } from 'model-gateway/admin'
import {
  type Middleware,
  type MiddlewareAt,
  middleware as middlewarePoint,
} from 'model-gateway/middleware'
import { Type } from 'model-gateway/plugin'
import sinkPlugin from '../../../plugins/plugin-kit/templates/accounting-sink/src/index.ts'
import adminPlugin from '../../../plugins/plugin-kit/templates/admin/src/index.ts'
import middlewarePlugin from '../../../plugins/plugin-kit/templates/middleware/src/index.ts'
import { testAccountingSink } from '../accounting-sink.ts'
import { type AdminCase, testAdminModule } from '../admin-module.ts'
import { withFault } from '../faults.ts'
import { testMiddleware } from '../middleware.ts'
import { type Planted, spoilt } from './planted.ts'

/** Runs the kit over the template's sink, changed. */
const sink = (change: (sound: AccountingSink, file: string) => AccountingSink) => () => {
  const folder = mkdtempSync(join(tmpdir(), 'planted-sink-'))
  const file = join(folder, 'calls.jsonl')
  testAccountingSink({
    plugin: spoilt(sinkPlugin, accountingSinks, (sound) => change(sound, file)),
    capabilities: { files: { directory: () => folder } },
    written: () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []),
  })
}

const takes = 'it takes every outcome, frozen as it comes, and has written it when it says so'

export const plantedSinks: readonly Planted[] = [
  {
    fault: 'a sink that says so too early',
    rule: takes,
    run: sink((sound) => ({
      async record(...told) {
        setTimeout(() => void sound.record(...told), 100)
      },
    })),
  },
  {
    fault: 'a sink that writes to what it is told',
    rule: takes,
    run: sink((sound) => withFault(sound, 'record', { kind: 'mutate' })),
  },
  {
    fault: 'a sink that rounds',
    rule: 'a cost is kept to the last digit',
    run: sink((_, file) => ({
      async record({ requestId }, { costPicoUsd }) {
        appendFileSync(file, `${JSON.stringify({ requestId, cost: Number(costPicoUsd) })}\n`)
      },
    })),
  },
  {
    fault: 'a sink that loses what comes at once',
    rule: 'sixteen at a time are written once each',
    run: sink((_, file) => ({
      async record({ requestId }, { costPicoUsd }) {
        const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
        await Bun.sleep(2)
        writeFileSync(file, `${before}${requestId} ${costPicoUsd}\n`)
      },
    })),
  },
  {
    fault: 'a sink that stops after one failure',
    rule: 'a call that fails halfway leaves the next one alone',
    run: sink((sound) => {
      let broken = false
      return {
        async record(call, settlement) {
          if (call.requestId === 'broken-x') broken = true
          if (!broken) await sound.record(call, settlement)
        },
      }
    }),
  },
]

const notes = '/api/v1/admin/sample-name/notes'
const cases: readonly AdminCase[] = [
  { name: 'none', method: 'GET', path: notes, status: 200 },
  { name: 'one', method: 'POST', path: notes, body: { text: 'a' }, status: 201 },
  {
    name: 'gone',
    method: 'DELETE',
    path: (answers) => `${notes}/${(answers[1] as { note_id: string }).note_id}`,
    status: 204,
  },
]
const admin =
  (method: AdminRoute['method'], change: (route: AdminRoute) => Partial<AdminRoute>) => () =>
    testAdminModule({
      plugin: spoilt(adminPlugin, adminModules, ({ id, routes }) => ({
        id,
        routes: routes.map((route) =>
          route.method === method ? { ...route, ...change(route) } : route,
        ),
      })),
      cases,
    })

export const plantedModules: readonly Planted[] = [
  {
    fault: 'a change for anyone',
    rule: 'its changes are for a session or an API key',
    run: admin('DELETE', () => ({ audience: 'anyone' })),
  },
  {
    fault: 'a body that takes any member',
    rule: 'its schemas name the parameters of its path and refuse unknown members',
    run: admin('POST', () => ({ body: Type.Object({ text: Type.String() }) })),
  },
  {
    fault: 'an answer that is not what it says',
    rule: 'case: one',
    run: admin('POST', ({ handle }) => ({
      handle: async (call) => ({ ...((await handle(call)) as object), created_at: 7 }),
    })),
  },
  {
    fault: 'a handler that throws for an odd body',
    rule: 'whatever it is sent, the fault is not the gateway’s',
    run: admin('POST', ({ handle }) => ({
      handle(call) {
        if ((call.body as { text: string }).text.length < 5) throw new Error('too short')
        return handle(call)
      },
    })),
  },
  {
    fault: 'a success for what is not there',
    rule: 'an id that nothing has is a 404',
    run: admin('DELETE', () => ({ handle: () => null })),
  },
]

const around = (change: (sound: MiddlewareAt<'decode'>) => Partial<MiddlewareAt<'decode'>>) => () =>
  testMiddleware({
    plugin: spoilt(middlewarePlugin, middlewarePoint, (sound: Middleware) =>
      sound.around === 'decode' ? { ...sound, ...change(sound) } : sound,
    ),
    config: { max_tokens: 50 },
    cases: [],
  })

const once = 'it calls next once, or refuses with a GatewayError, and is not long about it'
let seen = ''

export const plantedMiddlewares: readonly Planted[] = [
  {
    fault: 'a middleware at a step that has no seam',
    rule: 'each names itself, its seam and its neighbours',
    run: around(() => ({ around: 'settle' as 'decode' })),
  },
  {
    fault: 'a middleware that does not call next',
    rule: once,
    run: around(() => ({ handle() {} })),
  },
  {
    fault: 'a middleware that calls next twice',
    rule: once,
    run: around(() => ({
      async handle(_, next) {
        await next()
        await next()
      },
    })),
  },
  {
    fault: 'a middleware that hangs',
    rule: once,
    run: around((sound) => ({
      appliesTo: ['responses'],
      handle: withFault(sound as { handle: typeof sound.handle }, 'handle', { kind: 'hang' })
        .handle,
    })),
  },
  {
    fault: 'a middleware that writes to the body',
    rule: once,
    run: around(() => ({
      async handle(_, next) {
        const { body } = await next()
        body.max_tokens = 50
      },
    })),
  },
  {
    fault: 'a middleware that wants tags',
    rule: 'it takes an exchange without tags, tools or caller',
    run: around(() => ({
      async handle(_, next) {
        const { tags } = await next()
        void (tags.service as string).length
      },
    })),
  },
  {
    fault: 'a middleware that mixes requests up',
    rule: 'requests at once do not see each other',
    run: around(() => ({
      async handle(_, next) {
        const { body, replaceBody } = await next()
        const before = seen
        seen = JSON.stringify(body)
        replaceBody({ ...body, before })
      },
    })),
  },
]

/** The templates themselves, which break no rule. */
export const soundCalls: readonly (() => void)[] = [
  sink((sound) => sound),
  admin('GET', () => ({})),
  around(() => ({})),
]
