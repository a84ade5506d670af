import {
  type Caller,
  type Candidate,
  type DecodedRequest,
  type DecodeExchange,
  type ExecuteExchange,
  GatewayError,
  type JsonObject,
  type PlannedExchange,
  type Principal,
  type RespondExchange,
  type Seam,
} from '../plugin/index.ts'
import { deepFreeze } from '../plugin/json.ts'
import type { Route } from '../routing/catalog.ts'
import { type Link, runChain } from './chain.ts'
import {
  type Admitted,
  type Authenticated,
  type Decoded,
  type Exchange,
  type LifecycleServices,
  type Planned,
  type Received,
  Refusal,
} from './exchange.ts'
import { admit, decode, decodeText } from './steps.ts'

type AddedHeaders = Readonly<Record<string, string>>
const noHeaders: AddedHeaders = {}
const noLinks: readonly Link[] = []

/** Reads the body inside the `decode` middlewares. */
export async function decodeStep(
  authenticated: Authenticated,
  services: LifecycleServices,
): Promise<Decoded> {
  const links = linksOf(authenticated, 'decode', services)
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
    return view(
      () => decoded as Decoded,
      (text) => {
        if (over) throw new Error('replaced the body after the request had been decoded')
        decoded = replaced(read, text)
      },
    )
  }
  try {
    await runChain(links, exchange, step, services.chainTools)
  } catch (error) {
    throw decoded === undefined ? error : new Refusal(error, decoded)
  } finally {
    over = true
  }
  return decoded as unknown as Decoded
}

/** The result of `next` at `decode`; always reads the current body. */
function view(decoded: () => Decoded, replace: (text: string) => void): DecodedRequest {
  return {
    get requestedModel() {
      return decoded().selector
    },
    get stream() {
      return decoded().read.stream
    },
    get tags() {
      return deepFreeze(decoded().tags)
    },
    get body() {
      return copyOf(decoded())
    },
    // Serialised at once, so that later changes to the middleware's object have no effect.
    replaceBody: (body) => replace(JSON.stringify(body)),
  }
}

function replaced(authenticated: Authenticated, text: string): Decoded {
  try {
    return decodeText(authenticated, text)
  } catch (error) {
    // An error of the middleware, not of the caller.
    if (!(error instanceof GatewayError)) throw error
    throw new Error(`replaced the body by an invalid one: ${error.message}`)
  }
}

/** Asks accounting inside the `admit` middlewares. */
export async function admitStep(planned: Planned, services: LifecycleServices): Promise<Admitted> {
  const links = linksOf(planned, 'admit', services)
  if (links.length === 0) return await admit(planned, services)
  let admitted: Admitted | undefined
  const step = async () => {
    admitted = await admit(planned, services)
  }
  try {
    await runChain(links, plannedExchange(planned), step, services.chainTools)
  } catch (error) {
    throw admitted === undefined ? error : new Refusal(error, admitted)
  }
  return admitted as unknown as Admitted
}

/**
 * Calls the provider inside the `execute` middlewares; `call` runs for each route that they choose.
 * Resolves to why the caller does not get the last answer, if so.
 */
export async function executeStep(
  admitted: Admitted,
  call: (route: Route) => Promise<unknown>,
  services: LifecycleServices,
): Promise<{ readonly error: unknown } | undefined> {
  const links = linksOf(admitted, 'execute', services)
  try {
    if (links.length === 0) await call(admitted.route)
    else await runExecuteChain(links, admitted, call, services)
    return undefined
  } catch (error) {
    return { error }
  }
}

async function runExecuteChain(
  links: readonly Link[],
  admitted: Admitted,
  call: (route: Route) => Promise<unknown>,
  { chainTools }: LifecycleServices,
): Promise<void> {
  const exchange: ExecuteExchange = Object.defineProperty(
    plannedExchange(admitted) as ExecuteExchange,
    'candidates',
    { enumerable: true, get: () => admitted.candidates().map(candidateOf) },
  )
  const step = async (chosen: Candidate | undefined) => {
    const routeId = chosen?.routeId ?? admitted.route.spec.id
    const route = admitted.candidates().find(({ spec }) => spec.id === routeId)
    if (route === undefined) throw new Error(`chose ${routeId}, which is not a candidate`)
    await call(route)
  }
  await runChain(links, exchange, step, { ...chainTools, again: true })
}

function candidateOf({ spec }: Route): Candidate {
  return { routeId: spec.id, provider: spec.provider, upstreamModel: spec.upstreamModel }
}

export interface Head {
  readonly status: number
  readonly stream: boolean
  readonly errorCode?: string
}

/** Headers from the `respond` middlewares; a promise only if there are such middlewares. */
export function respondStep(
  exchange: Exchange,
  head: Head,
  services: LifecycleServices,
): AddedHeaders | Promise<AddedHeaders> {
  const links = linksOf(exchange, 'respond', services)
  if (links.length === 0) return noHeaders
  const headers = new Headers()
  let sent = false
  const shown: RespondExchange = {
    ...common(exchange),
    caller: 'principal' in exchange ? copyCaller(exchange.principal) : undefined,
    stream: head.stream,
    status: head.status,
    errorCode: head.errorCode,
    setHeader(name, value) {
      if (sent) throw new Error(`set the header ${name} after the response headers were final`)
      if (OWN_HEADERS.has(name.toLowerCase())) {
        throw new Error(`set the header ${name}, which the gateway sets itself`)
      }
      headers.set(name, value)
    },
  }
  const step = async () => {
    sent = true
  }
  return runChain(links, shown, step, services.chainTools).then(() => headers.toJSON())
}

/** Headers of the connection, the protocol or the gateway. */
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

/** Request headers that carry credentials. */
const CREDENTIALS = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-gateway-api-key',
])

function linksOf({ surface }: Received, seam: Seam, { chains }: LifecycleServices) {
  return chains[seam].get(surface.id) ?? noLinks
}

function common(received: Received) {
  return {
    requestId: received.requestId,
    operation: received.surface.operation,
    surface: received.surface.id,
    state: received.state,
    header: (name: string) => (CREDENTIALS.has(name.toLowerCase()) ? null : received.header(name)),
  }
}

/** A frozen copy, so that the data of identity cannot change. */
function copyCaller({ apiKeyId, owner, ownershipScopeKey }: Principal): Caller {
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
    stream: planned.read.stream,
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

/** The caller's body parsed again, because no one else may hold the object that a guard checks. */
function copyOf({ json, rawBody }: Decoded): JsonObject {
  let copy = copies.get(json)
  if (copy === undefined) {
    copy = deepFreeze(JSON.parse(rawBody) as JsonObject)
    copies.set(json, copy)
  }
  return copy
}
