import { Elysia, NotFoundError } from 'elysia'
import type { Site, SiteFile } from '../../kernel/plugin/index.ts'

/** Scripts, styles and calls: all of it the gateway's own, and nothing that stands in the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const FOR_GOOD = 'public, max-age=31536000, immutable'
const ASK_AGAIN_SECS = 1

/** `GET` of everything at and below the mounts of the sites. */
export function createSites(sites: readonly Site[]) {
  const app = new Elysia()
  for (const site of sites) {
    const serve = async (request: Request, path: string) => {
      const file = await site.find(path)
      if (file === undefined) throw new NotFoundError()
      return fileResponse(file, request.headers)
    }
    app.get(site.mount, ({ request }) => serve(request, ''))
    app.get(`${site.mount}/*`, ({ request, params }) => serve(request, params['*']))
  }
  return app
}

function fileResponse(file: SiteFile, request: Headers): Response {
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
