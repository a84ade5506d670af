import { type Static, Type } from '@sinclair/typebox'
import ipaddr from 'ipaddr.js'
import { MAX_TIMER_MS, type Problem, WRITE } from '../plugin/index.ts'
import type { Pruned } from './rules.ts'
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
  // A host of digits and dots, or in brackets, must be a valid IP address.
  const exists = hostname !== undefined && URL.canParse(`http://${text}`)
  return exists ? { hostname, port } : undefined
}

/** `subject` names the source of the address if it is not the value at the path. */
export function noBind(path: Problem['path'], subject = ''): Problem {
  const hint = 'write host:port, such as 127.0.0.1:8080 or [::]:8080'
  return { path, message: `${subject}is not an address to listen on`, hint }
}

/** Reports URLs that match the pattern but cannot be parsed. */
function* urlFaults(url: string): Iterable<Problem> {
  if (URL.canParse(url)) return
  const hint = 'write http://host or https://host:port, with a port up to 65535'
  yield { path: [], message: 'is not a valid URL', hint }
}

function* rangeFaults(range: string): Iterable<Problem> {
  if (ipaddr.isValidCIDR(range) || ipaddr.isValid(range)) return
  const hint = 'write an address or a range such as 10.0.0.0/8'
  yield { path: [], message: 'is not an IP address or a CIDR range', hint }
}

/** Origins have no path; browsers send them in lower case and without a default port. */
function* originFaults(origin: string): Iterable<Problem> {
  const isExact = !origin.startsWith('http') || URL.parse(origin)?.origin === origin
  if (origin === '*' || (ORIGIN.test(origin) && isExact)) return
  const hint = "write an origin such as https://app.example.com, or '*'"
  yield { path: [], message: 'is not an origin as browsers send it', hint }
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#*A-Z]+$/

function* corsFaults({
  origins = [],
  credentials,
}: Pruned<Static<typeof Cors>>): Iterable<Problem> {
  if (credentials !== true || !origins.includes('*')) return
  const hint = 'list the origins, or remove credentials'
  yield { path: ['origins'], message: "cannot be '*' with credentials: browsers reject it", hint }
}

const Cors = Type.Object(
  {
    origins: Type.Array(withRule(Type.String(), originFaults), {
      minItems: 1,
      description: "Allowed origins, such as https://app.example.com; '*': all",
    }),
    headers: Type.Array(Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }), {
      default: ['*'],
      description: "Allowed request headers; '*': all",
    }),
    credentials: Type.Boolean({ default: false, description: 'Allow calls with cookies' }),
  },
  { description: 'Lets web pages of other origins call the gateway. Default: none' },
)

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
        description: 'Address and port to listen on',
        [WRITE]: 'write host:port, such as 127.0.0.1:8080 or [::]:8080',
      }),
      (text) => (parseBind(text) === undefined ? [noBind([])] : []),
    ),
    log_format: Type.Optional(
      Type.Union([Type.Literal('pretty'), Type.Literal('json')], {
        description: 'Default: pretty on a terminal, json otherwise',
      }),
    ),
    max_body_bytes: Type.Integer({
      minimum: 1,
      default: 32 * 1024 * 1024,
      description: 'Maximum size of a request body',
    }),
    body_timeout_ms: Type.Integer({
      minimum: 1,
      maximum: MAX_TIMER_MS,
      default: 30_000,
      description: 'Maximum time for a request body to arrive',
    }),
    shutdown_grace_secs: Type.Number({
      minimum: 0,
      maximum: Math.floor(MAX_TIMER_MS / 1000),
      default: 30,
      description: 'Time for running requests to finish when the gateway stops',
    }),
    public_base_url: Type.Optional(httpUrl('URL that callers use, if it differs from `bind`')),
    allowed_hosts: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$',
          [WRITE]: 'write a host name such as gateway.example.com, with or without a port',
        }),
        {
          description:
            'Additional host names, next to loopback names and that of `public_base_url`, for calls to the control plane, the console and MCP. Default: none on a loopback address, otherwise any name',
        },
      ),
    ),
    cors: Type.Optional(withRule(Cors, corsFaults)),
    request_ids: Type.Union([Type.Literal('caller'), Type.Literal('own')], {
      default: 'caller',
      description:
        'caller: callers may set the request id in `x-request-id`. own: the gateway makes each id, and the log keeps the id of the caller as `client_request_id`',
    }),
    trusted_proxies: Type.Array(
      withRule(
        Type.String({ [WRITE]: 'write an address or a range such as 10.0.0.0/8' }),
        rangeFaults,
      ),
      {
        default: [],
        description:
          "Addresses and CIDR ranges of proxies whose `x-forwarded-for` or `forwarded` header is trusted for the caller's address",
      },
    ),
    ungoverned: Type.Boolean({
      default: false,
      description: 'Allow the gateway to start without accounting or request log, for benchmarks',
    }),
    egress_proxy: Type.Optional(
      httpUrl('Proxy for calls to providers; proxy variables of the environment are ignored'),
    ),
  },
  { default: {} },
)
