import {
  GatewayError,
  type JsonObject,
  type JsonValue,
  mayBeRevoked,
  presentedKey,
} from '../plugin/index.ts'
import { canonicalSelector, type ResolvedModel, resolveRoute } from '../routing/resolve.ts'
import { DEEPEST_JSON, outermostMembers } from '../wire/json-depth.ts'
import { withExactInputs } from '../wire/messages-inputs.ts'
import { readMessages } from '../wire/messages-request.ts'
import { readRequest } from '../wire/request.ts'
import { requireUnambiguousKeys } from '../wire/request-keys.ts'
import { readTags } from '../wire/tags.ts'
import type {
  Admitted,
  Authenticated,
  Decoded,
  Incoming,
  LifecycleServices,
  Planned,
  Received,
} from './exchange.ts'
import { messagesOver } from './messages-over.ts'

export function receive(incoming: Incoming, services: LifecycleServices): Received {
  return {
    ...incoming,
    lease: services.lease(),
    trace: services.trace(incoming),
    state: new Map(),
  }
}

/** `known` hears of the owner of a good key, also of one who may not call. */
export async function authenticate(
  received: Received,
  services: LifecycleServices,
  known?: (authenticated: Authenticated) => void,
): Promise<Authenticated> {
  if (received.refusal !== undefined) throw received.refusal
  const principal = await services.identity.authenticate(presentedKey(received.header), received)
  const authenticated = { ...received, principal }
  known?.(authenticated)
  services.accounting.checkOwner(principal)
  return authenticated
}

export async function decode(
  authenticated: Authenticated,
  services: LifecycleServices,
): Promise<Decoded> {
  const rawBody = await authenticated.body()
  const caller = mayBeRevoked(authenticated)
    ? await authenticate(authenticated, services)
    : authenticated
  return decodeText(caller, rawBody)
}

/** The request that a body makes. Throws GatewayError. */
export function decodeText(authenticated: Authenticated, rawBody: string): Decoded {
  const members = outermostMembers(rawBody)
  if (members === undefined) {
    throw new GatewayError(
      'invalid_request',
      `the request body nests arrays and objects more than ${DEEPEST_JSON} deep`,
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
  const messages =
    authenticated.apiSurface === 'messages'
      ? readMessages(withExactInputs(json, rawBody), authenticated.header('anthropic-beta'))
      : undefined
  const read = messages ?? readRequest(authenticated.family, json)
  const tags = readTags(authenticated.header)
  return {
    ...authenticated,
    rawBody,
    // Reading it has shown that it is an object.
    json: json as JsonObject,
    messages,
    tags,
    selector: canonicalSelector(read.model),
    stream: read.stream,
    needed: read.requirements,
    exposedToolCount: read.exposedToolCount,
  }
}

/** `stranded` hears of the model when there is one and no route of it for the request. */
export function plan(
  decoded: Decoded,
  random: () => number,
  stranded: (found: Decoded & ResolvedModel) => void,
): Planned {
  const { json, rawBody, messages } = decoded
  const { runtime } = decoded.lease
  const over = messages && messagesOver(messages)
  const resolved = resolveRoute(
    runtime.catalog,
    {
      selector: decoded.selector,
      principal: decoded.principal,
      needed: decoded.needed,
      refusal: over?.refusal,
      stranded: (found) => stranded({ ...decoded, ...found }),
    },
    random,
  )
  const provider = runtime.providers.get(resolved.route.spec.provider)
  if (provider === undefined) throw new Error(`no provider ${resolved.route.spec.provider}`)
  const call = over ? { ...over.call(resolved.route), rawBody: undefined } : { body: json, rawBody }
  return { ...decoded, ...resolved, provider, call }
}

export async function admit(planned: Planned, services: LifecycleServices): Promise<Admitted> {
  const admitted: Admitted = { ...planned, dispatchedAt: new Date() }
  // Not awaited when the answer is there at once, as it is for ids that the gateway made.
  const pending = services.accounting.admit(admissionOf(admitted))
  if (pending !== undefined) await pending
  return admitted
}

/** The call as accounting sees it. */
export function admissionOf(admitted: Admitted) {
  return {
    requestId: admitted.requestId,
    callerChoseRequestId: admitted.callerChoseRequestId,
    principal: admitted.principal,
    operation: admitted.family,
    requestedModel: admitted.selector,
    resolvedModel: admitted.executionModel.id,
    provider: admitted.provider.id,
    upstreamModel: admitted.route.spec.upstreamModel,
    dispatchedAt: admitted.dispatchedAt,
  }
}
