import {
  type ConvertedCall,
  GatewayError,
  isJsonObject,
  type JsonValue,
  mayBeRevoked,
  presentedKey,
  type Surface,
  type SurfaceCall,
  type SurfaceRequest,
} from '../plugin/index.ts'
import type { Route } from '../routing/catalog.ts'
import { canonicalSelector, type ResolvedModel, resolveRoute } from '../routing/resolve.ts'
import type { Way } from '../routing/ways.ts'
import { editMembers } from '../wire/edit-members.ts'
import { DEEPEST_JSON, outermostMembers } from '../wire/json-depth.ts'
import { requireUnambiguousKeys } from '../wire/request-keys.ts'
import {
  type Admitted,
  type Authenticated,
  type CallContent,
  type Decoded,
  type Incoming,
  type LifecycleServices,
  type Planned,
  type Received,
  Refusal,
} from './exchange.ts'
import { readTags } from './tags.ts'
import { nothingHeard } from './upstream-headers.ts'

export function receive(incoming: Incoming, services: LifecycleServices): Received {
  const { requestId, receivedAt, startedAt, headers } = incoming
  const header = (name: string) => {
    const value = headers[name] ?? headers[name.toLowerCase()]
    // Guards against inherited names such as `constructor`.
    return typeof value === 'string' ? value : null
  }
  return {
    ...incoming,
    header,
    lease: services.lease(),
    state: new Map(),
    trace: services.trace({ requestId, receivedAt, startedAt, header }),
  }
}

export async function authenticate(
  received: Received,
  services: LifecycleServices,
): Promise<Authenticated> {
  if (received.refusal !== undefined) throw received.refusal
  const principal = await services.identity.authenticate(
    presentedKey(received.header, received.surface.keyHeaders),
    received,
  )
  const authenticated = { ...received, principal }
  try {
    services.accounting.checkOwner(principal)
  } catch (error) {
    throw new Refusal(error, authenticated)
  }
  return authenticated
}

export async function decode(
  authenticated: Authenticated,
  services: LifecycleServices,
): Promise<Decoded> {
  const rawBody = await authenticated.body()
  return decodeText(await stillAllowed(authenticated, services), rawBody)
}

/** Checks the key again if the body took long to arrive. */
async function stillAllowed(authenticated: Authenticated, services: LifecycleServices) {
  if (!mayBeRevoked(authenticated)) return authenticated
  try {
    return await authenticate(authenticated, services)
  } catch (thrown) {
    throw thrown instanceof Refusal ? thrown.error : thrown
  }
}

/** Parses a body into a request. Throws GatewayError. */
export function decodeText(authenticated: Authenticated, rawBody: string): Decoded {
  const { surface, header } = authenticated
  const members = outermostMembers(rawBody)
  if (members === undefined) {
    throw new GatewayError(
      'invalid_request',
      `the request body nests arrays and objects more than ${DEEPEST_JSON} levels deep`,
    )
  }
  let json: JsonValue
  try {
    json = JSON.parse(rawBody) as JsonValue
  } catch (error) {
    throw new GatewayError(
      'invalid_request',
      `the request body is not valid JSON: ${(error as Error).message}`,
      { cause: error },
    )
  }
  requireUnambiguousKeys(json, rawBody, members)
  const read = readBy(surface, { json, rawBody, header })
  if (!isJsonObject(json)) {
    throw new GatewayError('invalid_request', 'the request body must be a JSON object')
  }
  return {
    ...authenticated,
    rawBody,
    json,
    read,
    tags: readTags(header),
    selector: canonicalSelector(read.model),
  }
}

/** Throws GatewayError; errors of the surface name it. */
function readBy(surface: Surface, request: SurfaceRequest): SurfaceCall {
  let read: unknown
  try {
    read = surface.read(request)
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw new Error(`the surface ${surface.id} failed to read a request`, { cause })
  }
  if (isSurfaceCall(read)) return read
  throw new Error(`the surface ${surface.id} returned an invalid call`)
}

function isSurfaceCall(value: unknown): value is SurfaceCall {
  const { model, stream, features } = (value ?? {}) as Partial<SurfaceCall>
  return typeof model === 'string' && typeof stream === 'boolean' && Array.isArray(features)
}

/** The flags that a route needs for any call of the surface. */
export function flagsOf({ operation, capability }: Surface): readonly string[] {
  return capability === undefined ? [operation] : [operation, capability]
}

/** The features that a request needs from a route. */
export function asked(surface: Surface, read: SurfaceCall, content: (route: Route) => unknown) {
  return {
    selector: canonicalSelector(read.model),
    needed: [...flagsOf(surface), ...read.features],
    /** Why a route cannot take the request although it has all needed flags. */
    refusal(route: Route) {
      try {
        content(route)
        return undefined
      } catch (error) {
        if (error instanceof GatewayError) return error
        throw error
      }
    },
  }
}

/** Throws GatewayError, or Refusal if the model exists but has no route for the request. */
export function plan(decoded: Decoded, random: () => number): Planned {
  const { surface, read, principal } = decoded
  const { runtime } = decoded.lease
  const content = contentFor(decoded)
  let known: ResolvedModel | undefined
  const stranded = (found: ResolvedModel) => {
    known = found
  }
  try {
    const request = { ...asked(surface, read, content), principal, stranded }
    const { route, others, ...found } = resolveRoute(runtime.catalog, request, random)
    const candidates = () => [route, ...others()]
    const on = (chosen: Route): Planned => {
      const provider = runtime.providers.get(chosen.spec.provider)
      if (provider === undefined) throw new Error(`provider ${chosen.spec.provider} does not exist`)
      const way = wayOf(chosen, surface.dialect)
      const { dropped, ...call } = content(chosen)
      const told = new Set(dropped)
      return {
        ...decoded,
        ...found,
        route: chosen,
        way,
        provider,
        call,
        dropped: told,
        heard: nothingHeard,
        candidates,
        on,
      }
    }
    return on(route)
  } catch (error) {
    throw known === undefined ? error : new Refusal(error, { ...decoded, ...known })
  }
}

function wayOf({ spec, ways }: Route, dialect: string): Way {
  const way = ways.get(dialect)
  if (way !== undefined) return way
  throw new GatewayError(
    'invalid_request',
    `model '${spec.model}' has no route that serves this API`,
  )
}

type RouteContent = CallContent & Pick<ConvertedCall, 'dropped'>

/** Builds the body for each route. Throws GatewayError if a route cannot take the request. */
export function contentFor({
  surface,
  read,
  json,
  rawBody,
}: Pick<Decoded, 'surface' | 'read' | 'json' | 'rawBody'>): (route: Route) => RouteContent {
  const unchanged: RouteContent = { body: json, rawBody, headers: read.headers }
  let converted: Map<unknown, ReturnType<NonNullable<Way['conversion']>['request']>> | undefined
  return (route) => {
    const { conversion } = wayOf(route, surface.dialect)
    if (conversion === undefined) return withoutParams(unchanged, route)
    converted ??= new Map()
    let convert = converted.get(conversion)
    if (convert === undefined) {
      convert = conversion.request(read)
      converted.set(conversion, convert)
    }
    return withoutParams({ ...convert(route), rawBody: undefined }, route)
  }
}

/** Applies `drop_params` of the route. */
function withoutParams(content: RouteContent, { spec }: Route): RouteContent {
  const names = spec.dropParams?.filter((name) => content.body[name] !== undefined) ?? []
  if (names.length === 0) return content
  const { rawBody, dropped = [] } = content
  const changes = new Map(names.map((name) => [name, undefined]))
  return {
    ...content,
    body: Object.fromEntries(Object.entries(content.body).filter(([name]) => !changes.has(name))),
    rawBody: rawBody && editMembers(rawBody, changes),
    dropped: [...dropped, ...names],
  }
}

export async function admit(planned: Planned, services: LifecycleServices): Promise<Admitted> {
  const admitted: Admitted = { ...planned, dispatchedAt: new Date() }
  if (planned.surface.priced === false) return admitted
  // Not awaited if synchronous, as it is for ids made by the gateway.
  const pending = services.accounting.admit(admissionOf(admitted))
  if (pending !== undefined) await pending
  return admitted
}

/** The call for accounting. */
export function admissionOf(admitted: Admitted) {
  return {
    requestId: admitted.requestId,
    callerChoseRequestId: admitted.callerChoseRequestId,
    principal: admitted.principal,
    operation: admitted.surface.operation,
    requestedModel: admitted.selector,
    resolvedModel: admitted.executionModel.id,
    provider: admitted.provider.id,
    upstreamModel: admitted.route.spec.upstreamModel,
    pricing: admitted.route.bound.pricing,
    configVersion: admitted.lease.runtime.configVersion,
    dispatchedAt: admitted.dispatchedAt,
  }
}
