import { curlOf } from '@/lib/curl.ts'
import { isObject } from '@/lib/stream-text.ts'
import type { RequestDetail } from '@/pages/requests/query.ts'

interface Command {
  readonly text: string
  /** Whether parts of the request are missing. */
  readonly incomplete: boolean
}

/** The request as a `curl` command; undefined if its body was not recorded. */
export function commandOf(log: RequestDetail, origin: string): Command | undefined {
  const request = log.payload?.request
  if (!isObject(request) || !isObject(request.body)) return undefined
  const surface = log.metadata_json as { readonly api_surface?: unknown }
  const headers = isObject(request.headers) ? request.headers : {}
  const wanted = Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      (entry[0].startsWith('x-gateway-') || entry[0].startsWith('anthropic-')) &&
      typeof entry[1] === 'string' &&
      entry[1] !== '[redacted]',
  )
  const api = surface.api_surface === 'messages' ? 'messages' : log.operation
  const text = curlOf(origin, api, request.body, Object.fromEntries(wanted))
  return {
    text,
    incomplete:
      log.request_payload_truncated ||
      text.includes('[redacted]') ||
      text.includes('"truncated":true'),
  }
}
