import { type AdminRoute, SESSION_COOKIE } from 'model-gateway/admin'
import { GatewayError } from 'model-gateway/plugin'
import { createPluginRoutes } from '../../kernel/http/plugin-routes.ts'
import { createAdminPlane } from '../../plugins/admin-api/plane.ts'

/** The caller: a session in one of the two roles, or no session. */
export type Who = 'platform_admin' | 'user' | 'nobody'

export interface AdminReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Of a JSON success. */
  readonly data: unknown
  /** Of a failure. */
  readonly code: string | undefined
}

/** Routes behind the real control plane, without a gateway around it. */
export interface AdminBench {
  request(who: Who, method: string, path: string, body?: unknown): Promise<AdminReply>
  /** What was thrown that was no GatewayError. */
  readonly faults: readonly unknown[]
}

const ORIGIN = 'http://localhost'

export function openAdminBench(routes: readonly AdminRoute[]): AdminBench {
  const faults: unknown[] = []
  const httpRoutes = createAdminPlane({
    modules: [{ id: 'bench', routes }],
    sessions: {
      async find(token) {
        if (token !== 'platform_admin' && token !== 'user') return undefined
        return {
          kind: 'session',
          sessionId: '0199e7a4-0000-7000-8000-00000000000a',
          userId: '0199e7a4-0000-7000-8000-00000000000b',
          email: `${token}@example.com`,
          name: token,
          role: token,
        }
      },
    },
    identity: {
      authenticate() {
        throw new GatewayError('api_key_not_found', 'there are no keys here')
      },
    },
    door: { publicBaseUrl: undefined },
    log: { warn() {}, error: (bound: unknown) => void faults.push(bound) },
  })
  const app = createPluginRoutes({
    httpRoutes,
    door: { requireOwnHost() {} },
    bodyLimits: { maxBytes: 1 << 20, timeoutMs: 10_000 },
    address: () => '127.0.0.1',
    limitIdle() {},
    streams() {},
    limitAgain() {},
    fault: (_, error) => void faults.push(error),
  })
  return {
    faults,
    async request(who, method, path, body) {
      const response = await app.handle(
        new Request(ORIGIN + path, {
          method,
          headers: {
            host: 'localhost',
            origin: ORIGIN,
            ...(who !== 'nobody' && { cookie: `${SESSION_COOKIE}=${who}` }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      )
      const text = await response.text()
      const { data, error } = parsed(text) as { data?: unknown; error?: { code?: string } }
      return { status: response.status, headers: response.headers, text, data, code: error?.code }
    },
  }
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
