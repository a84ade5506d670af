import type { HttpCall, HttpRoute } from 'model-gateway/http'
import { GatewayError } from 'model-gateway/plugin'

/** One file of the console, ready to send. */
export interface PageFile {
  /** The content type, with a charset for texts. */
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  /** `body`, compressed in advance. */
  readonly gzip?: Uint8Array<ArrayBuffer>
  readonly brotli?: Uint8Array<ArrayBuffer>
  /** Browsers may cache the file forever, because its name changes with its content. */
  readonly immutable: boolean
  /** A placeholder while the console is being built: status 503, and the browser reloads it. */
  readonly pending?: true
}

/** A set of pages with their files, served with a strict Content-Security-Policy. */
export interface Pages {
  /** The path of the pages, without a trailing slash: `/console`. */
  readonly mount: `/${string}`
  /**
   * The file at a path below the mount, without a leading slash; '' is the page itself. Routes of
   * the app get the page; `undefined` is a 404.
   */
  find(path: string): PageFile | undefined
}

/** Scripts, styles and calls only from the gateway, and no inline scripts or styles. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const FOR_GOOD = 'public, max-age=31536000, immutable'
const ASK_AGAIN_SECS = 1

/** The `GET` routes at and below the mount. */
export function pageRoutes({ mount, find }: Pages): readonly HttpRoute[] {
  function handle({ request, params, url }: HttpCall): Response {
    const file = find(params['*'] ?? '')
    if (file !== undefined) return fileResponse(file, request.headers)
    throw new GatewayError('not_found', `${request.method} ${url().pathname} does not exist`)
  }
  return [mount, `${mount}/*`].map((path) => ({
    method: 'GET',
    path,
    ownHost: true,
    takesAnyRequestId: true,
    handle,
  }))
}

function fileResponse(file: PageFile, request: Headers): Response {
  const headers = new Headers({
    'content-type': file.type,
    'cache-control': file.immutable ? FOR_GOOD : 'no-cache',
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  })
  if (file.gzip !== undefined || file.brotli !== undefined) headers.set('vary', 'accept-encoding')
  if (file.pending === true) {
    headers.set('cache-control', 'no-store')
    headers.set('refresh', String(ASK_AGAIN_SECS))
    headers.set('retry-after', String(ASK_AGAIN_SECS))
    return new Response(file.body, { status: 503, headers })
  }
  const accepted = request.get('accept-encoding') ?? ''
  if (file.brotli !== undefined && accepts(accepted, 'br')) {
    headers.set('content-encoding', 'br')
    return new Response(file.brotli, { headers })
  }
  if (file.gzip !== undefined && accepts(accepted, 'gzip')) {
    headers.set('content-encoding', 'gzip')
    return new Response(file.gzip, { headers })
  }
  return new Response(file.body, { headers })
}

/** Whether an Accept-Encoding list contains a coding without `q=0`. */
function accepts(list: string, coding: string): boolean {
  return list.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    return name === coding && !parameters.some((word) => /^q=0(\.0*)?$/.test(word))
  })
}
