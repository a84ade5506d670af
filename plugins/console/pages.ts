import type { HttpCall, HttpRoute } from 'model-gateway/http'
import { GatewayError } from 'model-gateway/plugin'

/** One file of the pages, as it goes out. */
export interface PageFile {
  /** Its content type, with the charset where that matters. */
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  /** The same, compressed ahead of time. */
  readonly gzip?: Uint8Array<ArrayBuffer>
  readonly brotli?: Uint8Array<ArrayBuffer>
  /** Its name changes with its content, so that browsers may keep it for good. */
  readonly immutable: boolean
  /** A stand-in for something that is still being made: 503, and the browser soon asks again. */
  readonly pending?: true
}

/** Pages with their files, under headers that keep everything else out. */
export interface Pages {
  /** Where they begin, without a slash at the end: `/console`. */
  readonly mount: `/${string}`
  /**
   * The file at a path below the mount, without the slash before it; the page itself is ''. A path
   * that only the page understands gets the page; `undefined` is a 404.
   */
  find(path: string): PageFile | undefined
}

/** Scripts, styles and calls: all of it the gateway's own, and nothing that stands in the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const FOR_GOOD = 'public, max-age=31536000, immutable'
const ASK_AGAIN_SECS = 1

/** `GET` of everything at and below the mount. */
export function pageRoutes({ mount, find }: Pages): readonly HttpRoute[] {
  function handle({ request, params, url }: HttpCall): Response {
    const file = find(params['*'] ?? '')
    if (file !== undefined) return fileResponse(file, request.headers)
    throw new GatewayError('not_found', `there is no ${request.method} ${url().pathname}`)
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

/** Whether a coding is in the list, and not with a weight of nothing. */
function accepts(list: string, coding: string): boolean {
  return list.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    return name === coding && !parameters.some((word) => /^q=0(\.0*)?$/.test(word))
  })
}
