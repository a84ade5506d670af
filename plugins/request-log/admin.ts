import { type AdminRoute, adminRoute } from 'model-gateway/admin'
import { GatewayError, type Static, strictObject, Type } from 'model-gateway/plugin'
import { oneOf } from '../_shared/schema.ts'
import type { requestLogging } from './config.ts'

export type LoggingPolicy = Pick<Static<typeof requestLogging.schema>, 'payloads' | 'purge'>

const Policy = Type.Object({
  capture_mode: oneOf(['disabled', 'summary_only', 'redacted_payloads']),
  request_max_bytes: Type.Integer(),
  response_max_bytes: Type.Integer(),
  stream_max_events: Type.Integer(),
  redaction_paths: Type.Array(Type.String(), {
    description: 'Paths that are redacted in addition to the built-in ones.',
  }),
  purge: Type.Object({
    enabled: Type.Boolean({ description: 'Whether this process deletes old request logs.' }),
    retention: Type.String({ description: 'How long request logs are kept: 1d, 3d or 7d.' }),
    schedule: Type.String({ description: 'Cron, UTC.' }),
  }),
})

/** What is logged, and for how long. Read-only: it changes in the config file. */
export function policyRoutes(policy: () => LoggingPolicy | undefined): AdminRoute[] {
  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/observability/request-log-policy',
      audience: 'platform_admin',
      tag: 'observability',
      summary: 'What the request log records of requests, and how long it keeps it.',
      query: strictObject({}),
      result: Policy,
      handle() {
        const inForce = policy()
        if (inForce === undefined) {
          throw new GatewayError('internal_error', 'no config is loaded yet')
        }
        return {
          ...inForce.payloads,
          redaction_paths: [...inForce.payloads.redaction_paths],
          purge: { ...inForce.purge },
        }
      },
    }),
  ]
}
