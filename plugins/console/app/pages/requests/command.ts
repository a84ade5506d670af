import { curlOf } from '@/lib/curl.ts'
import { isObject } from '@/lib/stream-text.ts'
import type { RequestDetail } from '@/pages/requests/query.ts'

interface Command {
  readonly text: string
  /** Something of the request is not in it. */
  readonly incomplete: boolean
}

/** The request as a command; undefined when its body was not kept. */
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
