import { type DocumentDecoration, Elysia } from 'elysia'
import type { HttpRoute } from 'model-gateway/http'
import styles from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import bundle from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { type AdminRoute, SESSION_COOKIE } from './contract.ts'
import { errorReply, operationOf } from './openapi.ts'

const SPEC_PATH = '/docs/json'

/** Only the gateway's own scripts, and nothing from other sites. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>model-gateway control plane</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

const START = `SwaggerUIBundle({
  url: '${SPEC_PATH}',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'none',
  validatorUrl: null,
})
`

/** `GET /docs` and the files that its page loads, all served by the gateway. */
export function createDocs(routes: () => readonly AdminRoute[]): readonly HttpRoute[] {
  let text: Promise<string> | undefined
  const get = (path: string, handle: HttpRoute['handle']): HttpRoute => ({
    method: 'GET',
    path,
    ownHost: true,
    takesAnyRequestId: true,
    handle,
  })
  return [
    get('/docs', () => asset(PAGE, 'text/html', CONTENT_SECURITY_POLICY)),
    get('/docs/start.js', () => asset(START, 'text/javascript')),
    get('/docs/swagger-ui.js', () => asset(Bun.file(bundle), 'text/javascript')),
    get('/docs/swagger-ui.css', () => asset(Bun.file(styles), 'text/css')),
    get(SPEC_PATH, async () => {
      text ??= openApiText(routes())
      return asset(await text, 'application/json')
    }),
  ]
}

function asset(content: string | Blob, type: string, policy?: string): Response {
  return new Response(content, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'x-content-type-options': 'nosniff',
      ...(policy !== undefined && { 'content-security-policy': policy }),
    },
  })
}

/** The OpenAPI document of the routes, in an order that does not depend on theirs. */
export async function openApiText(routes: readonly AdminRoute[]): Promise<string> {
  // Loaded on demand, because most gateways never serve the page.
  const { swagger } = await import('@elysiajs/swagger')
  const app = new Elysia()
  for (const route of routes.toSorted(byPath)) {
    const detail = operationOf(route) as DocumentDecoration
    app.route(route.method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), () => '', { detail })
  }
  const documentation = {
    // 3.1, because the schemas use `null` and `const`, which 3.0 does not have.
    openapi: '3.1.0',
    info: {
      title: 'model-gateway control plane',
      version: '1',
      description:
        'Users, teams, API keys, budgets and observability. Sign in at POST /api/v1/auth/login; routes for "me" also accept an API key. Requests that change something need an Origin header with the address of the gateway.',
    },
    components: {
      securitySchemes: {
        session: { type: 'apiKey' as const, in: 'cookie', name: SESSION_COOKIE },
        api_key: { type: 'http' as const, scheme: 'bearer' },
      },
      schemas: { Error: errorReply as object },
    },
  }
  app.use(swagger({ path: '/docs', excludeStaticFile: false, exclude: [/^\/docs/], documentation }))
  const response = await app.handle(new Request(`http://localhost${SPEC_PATH}`))
  return `${JSON.stringify(JSON.parse(await response.text(), plain), null, 2)}\n`
}

/**
 * Schemas for other tools: a union of strings becomes an `enum`, and our `errorMessage` is removed.
 */
function plain(_: string, part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
  const { errorMessage: ours, anyOf, ...schema } = part as Record<string, unknown>
  if (!Array.isArray(anyOf)) return ours === undefined ? part : schema
  const words = anyOf.map((option: { const?: unknown }) => option.const)
  return words.every((word) => typeof word === 'string')
    ? { type: 'string', enum: words, ...schema }
    : { anyOf, ...schema }
}

function byPath(a: AdminRoute, b: AdminRoute): number {
  const [left, right] = [`${a.path} ${a.method}`, `${b.path} ${b.method}`]
  return left < right ? -1 : left > right ? 1 : 0
}
