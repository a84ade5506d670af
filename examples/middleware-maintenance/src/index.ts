import { middleware } from 'model-gateway/middleware'
import { ConfigError, definePlugin, strictObject, Type } from 'model-gateway/plugin'
import { createMaintenance } from './maintenance.ts'
import { readWindows } from './windows.ts'

const time = Type.String({ description: 'RFC 3339, such as 2026-06-01T22:00:00Z' })

export default definePlugin({
  manifest: {
    id: 'middleware.maintenance',
    version: '1.0.0',
    contract: 1,
    summary: 'Closes models for maintenance, and announces it.',
    config: strictObject({
      windows: Type.Array(
        strictObject({
          from: time,
          until: time,
          models: Type.Optional(
            Type.Array(Type.String(), {
              description: 'Model ids, not aliases. Default: all models',
            }),
          ),
        }),
        { default: [] },
      ),
      notice_minutes: Type.Integer({ minimum: 0, maximum: 10_080, default: 60 }),
      retry_after_seconds: Type.Integer({
        minimum: 1,
        default: 3600,
        description: 'Maximum Retry-After in seconds',
      }),
    }),
    needs: ['clock'],
  },
  setup(ctx) {
    const { windows, problems } = readWindows(ctx.config.windows)
    // Checks that a schema cannot express; a problem keeps the gateway from starting.
    if (problems.length > 0) throw new ConfigError(problems)
    for (const each of createMaintenance({ ...ctx.config, windows }, ctx.clock)) {
      ctx.provide(middleware, each)
    }
  },
})
