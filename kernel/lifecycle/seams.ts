import {
  type Caller,
  type DecodedRequest,
  type DecodeExchange,
  GatewayError,
  type JsonObject,
  type PlannedExchange,
  type Principal,
  type ProviderResult,
  type RespondExchange,
  type Surface,
} from '../plugin/index.ts'
import { deepFreeze } from '../plugin/json.ts'
import { runChain } from './chain.ts'
import type {
  Admitted,
  Authenticated,
  Decoded,
  LifecycleServices,
  Planned,
  Received,
} from './exchange.ts'
import { settle } from './settle.ts'
import { admit, decode, decodeText } from './steps.ts'

type AddedHeaders = Readonly<Record<string, string>>
const noHeaders: AddedHeaders = {}

/** Reads the body, with the middlewares of `decode` around it. */
export async function decodeStep(
  authenticated: Authenticated,
  services: LifecycleServices,
  reached: (decoded: Decoded) => void,
): Promise<Decoded> {
  const links = services.chains.decode[surfaceOf(authenticated)]
  if (links.length === 0) return await decode(authenticated, services)
  let decoded: Decoded | undefined
  let over = false
  const exchange: DecodeExchange = {
    ...common(authenticated),
    caller: copyCaller(authenticated.principal),
  }
  const step = async () => {
    const read = await decode(authenticated, services)
    decoded = read
    reached(read)
    return view(
      () => decoded as Decoded,
      (text) => {
        if (over) throw new Error('replaced the body after the request had been decoded')
        decoded = replaced(read, text)
        reached(decoded)
      },
    )
  }
  try {
    await runChain(links, exchange, step, services.chainTools)
  } finally {
    over = true
  }
  return decoded as unknown as Decoded
}

/** What `next` gives at `decode`: always the body that is in force. */
function view(decoded: () => Decoded, replace: (text: string) => void): DecodedRequest {
  return {
    get requestedModel() {
      return decoded().selector
    },
    get stream() {
      return decoded().stream
    },
    get tags() {
      return deepFreeze(decoded().tags)
    },
    get body() {
      return copyOf(decoded())
    },
    // Written down at once: what the middleware does to its object later changes nothing.
    replaceBody: (body) => replace(JSON.stringify(body)),
  }
}

function replaced(authenticated: Authenticated, text: string): Decoded {
  try {
    return decodeText(authenticated, text)
  } catch (error) {
    // The caller is not to blame for it.
    if (!(error instanceof GatewayError)) throw error
    throw new Error(`replaced the body by one that cannot be used: ${error.message}`)
  }
}

/** Asks accounting, with the middlewares of `admit` around it. */
export async function admitStep(
  planned: Planned,
  services: LifecycleServices,
  reached: (admitted: Admitted) => void,
): Promise<Admitted> {
  const links = services.chains.admit[surfaceOf(planned)]
  if (links.length === 0) return await admit(planned, services)
  let admitted: Admitted | undefined
  const step = async () => {
    admitted = await admit(planned, services)
    reached(admitted)
  }
  try {
    await runChain(links, plannedExchange(planned), step, services.chainTools)
  } catch (error) {
    // Gives the request id back: nothing came of the call.
    if (admitted !== undefined) {
      await settle(admitted, { usage: undefined, succeeded: false }, services)
    }
    throw error
  }
  return admitted as unknown as Admitted
}

/** What came of the provider's call, and of what stands around it. */
export interface Executed {
  /** Undefined: the call was not made, or failed. */
  readonly answer: ProviderResult | undefined
  /** Why the caller does not get the answer. */
  readonly failure: { readonly error: unknown } | undefined
}

/** Calls the provider, with the middlewares of `execute` around it. Never rejects. */
export async function executeStep(
  admitted: Admitted,
  call: () => Promise<ProviderResult>,
  services: LifecycleServices,
): Promise<Executed> {
  let answer: ProviderResult | undefined
  const step = async () => {
    answer = await call()
  }
  const links = services.chains.execute[surfaceOf(admitted)]
  try {
    if (links.length === 0) await step()
    else await runChain(links, plannedExchange(admitted), step, services.chainTools)
    return { answer, failure: undefined }
  } catch (error) {
    return { answer, failure: { error } }
  }
}

export interface Head {
  readonly status: number
  readonly stream: boolean
  readonly errorCode?: string
}

/** The headers that the middlewares of `respond` add; a promise of them only when there are any. */
export function respondStep(
  reached: Received & Partial<Authenticated>,
  head: Head,
  services: LifecycleServices,
): AddedHeaders | Promise<AddedHeaders> {
  const links = services.chains.respond[surfaceOf(reached)]
  if (links.length === 0) return noHeaders
  const headers = new Headers()
  let sent = false
  const exchange: RespondExchange = {
    ...common(reached),
    caller: reached.principal && copyCaller(reached.principal),
    stream: head.stream,
    status: head.status,
    errorCode: head.errorCode,
    setHeader(name, value) {
      if (sent) throw new Error(`set the header ${name} after the head of the reply was settled`)
      if (OWN_HEADERS.has(name.toLowerCase())) {
        throw new Error(`set the header ${name}, which the gateway sets itself`)
      }
      headers.set(name, value)
    },
  }
  const step = async () => {
    sent = true
  }
  return runChain(links, exchange, step, services.chainTools).then(() => headers.toJSON())
}

/** Headers that belong to the connection, to the protocol or to the gateway. */
const OWN_HEADERS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'request-id',
  'retry-after',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
  'x-request-id',
])

/** Headers of a request that carry credentials. */
const CREDENTIALS = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-gateway-api-key',
])

function surfaceOf({ apiSurface, family }: Received): Surface {
  return apiSurface ?? family
}

function common(received: Received) {
  return {
    requestId: received.requestId,
    operation: received.family,
    surface: surfaceOf(received),
    state: received.state,
    header: (name: string) => (CREDENTIALS.has(name.toLowerCase()) ? null : received.header(name)),
  }
}

/** Frozen, and apart from what identity keeps. */
export function copyCaller({ apiKeyId, owner, ownershipScopeKey }: Principal): Caller {
  const team = owner.team && Object.freeze({ ...owner.team })
  const copy = Object.freeze({ ...owner, team }) as Principal['owner']
  return Object.freeze({ apiKeyId, owner: copy, ownershipScopeKey })
}

function plannedExchange(planned: Planned): PlannedExchange {
  const { spec } = planned.route
  return {
    ...common(planned),
    caller: copyCaller(planned.principal),
    requestedModel: planned.selector,
    stream: planned.stream,
    tags: deepFreeze(planned.tags),
    resolvedModel: planned.executionModel.id,
    provider: planned.provider.id,
    upstreamModel: spec.upstreamModel,
    routeId: spec.id,
    get body() {
      return copyOf(planned)
    },
  }
}

const copies = new WeakMap<JsonObject, JsonObject>()

/** The caller's body again: what a guard looks at is in nobody else's hands. */
function copyOf({ json, rawBody }: Decoded): JsonObject {
  let copy = copies.get(json)
  if (copy === undefined) {
    copy = deepFreeze(JSON.parse(rawBody) as JsonObject)
    copies.set(json, copy)
  }
  return copy
}
