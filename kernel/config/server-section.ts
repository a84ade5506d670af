import { Type } from '@sinclair/typebox'
import ipaddr from 'ipaddr.js'
import { MAX_TIMER_MS, type Problem, WRITE } from '../plugin/index.ts'
import { withRule } from './variants.ts'

export interface Address {
  readonly hostname: string
  readonly port: number
}

/** `host:port` or `[ipv6]:port`. */
export function parseBind(text: string): Address | undefined {
  const [, v6, host, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text) ?? []
  const hostname = v6 ?? host
  const port = Number(digits)
  // An address of digits and dots, or in brackets, has to be one.
  const exists = hostname !== undefined && URL.canParse(`http://${text}`)
  return exists ? { hostname, port } : undefined
}

/** `subject` says whose address it is, where it is not the value at the path. */
export function noBind(path: Problem['path'], subject = ''): Problem {
  const hint = 'write host:port, such as 127.0.0.1:8080 or [::]:8080'
  return { path, message: `${subject}is no address to listen on`, hint }
}

/** What a pattern lets pass and nothing can connect to. */
function* urlFaults(url: string): Iterable<Problem> {
  if (URL.canParse(url)) return
  const hint = 'write http://host or https://host:port, with a port up to 65535'
  yield { path: [], message: 'is no valid URL', hint }
}

function* rangeFaults(range: string): Iterable<Problem> {
  if (ipaddr.isValidCIDR(range) || ipaddr.isValid(range)) return
  const hint = 'write an address or a range such as 10.0.0.0/8'
  yield { path: [], message: 'is neither an address nor a range of addresses', hint }
}

/** A page of any origin could then act for whoever is signed in. */
function* corsFaults({
  origins,
  credentials,
}: {
  origins?: unknown
  credentials?: unknown
}): Iterable<Problem> {
  if (credentials !== true || !Array.isArray(origins) || !origins.includes('*')) return
  yield {
    path: ['credentials'],
    message: 'cannot be true where origins has *',
    hint: 'name the origins',
  }
}

const httpUrl = (description: string) =>
  withRule(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      description,
      [WRITE]: 'write a URL such as http://host',
    }),
    urlFaults,
  )

/** Section `server`. */
export const ServerSection = Type.Object(
  {
    bind: withRule(
      Type.String({
        default: '127.0.0.1:8080',
        description: 'Where to listen',
        [WRITE]: 'write host:port, such as 127.0.0.1:8080 or [::]:8080',
      }),
      (text) => (parseBind(text) === undefined ? [noBind([])] : []),
    ),
    log_format: Type.Optional(
      Type.Union([Type.Literal('pretty'), Type.Literal('json')], {
        description: 'Default pretty on a terminal, json elsewhere',
      }),
    ),
    max_body_bytes: Type.Integer({
      minimum: 1,
      default: 32 * 1024 * 1024,
      description: 'Longest request body',
    }),
    body_timeout_ms: Type.Integer({
      minimum: 1,
      maximum: MAX_TIMER_MS,
      default: 30_000,
      description: 'Time that a request body may take to arrive',
    }),
    shutdown_grace_secs: Type.Number({
      minimum: 0,
      maximum: Math.floor(MAX_TIMER_MS / 1000),
      default: 30,
      description: 'How long running requests may finish when the gateway stops',
    }),
    public_base_url: Type.Optional(httpUrl('The address as callers see it, when it is not `bind`')),
    allowed_hosts: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$',
          [WRITE]: 'write a host name such as gateway.example.com, with a port or without',
        }),
        {
          description:
            'Names, beside loopback ones and that of `public_base_url`, under which the control plane, the console and MCP are called. Default: on a loopback address no others, elsewhere any',
        },
      ),
    ),
    trusted_proxies: Type.Array(
      withRule(
        Type.String({ [WRITE]: 'write an address or a range such as 10.0.0.0/8' }),
        rangeFaults,
      ),
      {
        default: [],
        description:
          "Addresses and CIDR ranges of proxies whose `x-forwarded-for` or `forwarded` header tells a caller's address",
      },
    ),
    cors: Type.Optional(
      withRule(
        Type.Object(
          {
            origins: Type.Array(
              Type.String({
                pattern: '^(\\*|[a-z][a-z0-9+.-]*://[^/\\s]+)$',
                [WRITE]: 'write https://host, with a port if any and without a path, or *',
              }),
              { minItems: 1, description: 'Origins of pages that may call; `*` for any' },
            ),
            headers: Type.Optional(
              Type.Array(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }), {
                description: 'Request headers that pages may send. Default: any',
              }),
            ),
            credentials: Type.Optional(
              Type.Boolean({ description: 'Whether pages may send cookies. Default false' }),
            ),
          },
          {
            additionalProperties: false,
            description: 'Lets pages of other origins call the APIs under /v1. Default: none',
          },
        ),
        corsFaults,
      ),
    ),
    request_ids: Type.Optional(
      Type.Union([Type.Literal('caller'), Type.Literal('own')], {
        description:
          "Default caller. own: the gateway makes each request id, and keeps the caller's as client_request_id, for callers that send one id with many calls",
      }),
    ),
    ungoverned: Type.Boolean({
      default: false,
      description: 'Allows a start without accounting or request log, for measurements',
    }),
    egress_proxy: Type.Optional(
      httpUrl('A proxy for calls of providers; proxy variables of the environment are not used'),
    ),
  },
  { default: {} },
)
