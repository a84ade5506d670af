import { GatewayError } from '../plugin/index.ts'
import { messagesCall } from '../protocol/messages-call.ts'
import type { MessagesRequest } from '../protocol/messages-request.ts'
import type { Route } from '../routing/catalog.ts'

/** The chat call that a route is sent for a messages request. Throws as `messagesCall` does. */
export function messagesOver(request: MessagesRequest, { bound, capabilities }: Route) {
  const { nativeMessages = false, compatShape = false } = bound
  return messagesCall(request, {
    nativeMessages,
    compatShape,
    jsonSchema: capabilities.json_schema,
  })
}

/** Why a route cannot take a messages request, for all its capabilities. */
export function messagesRefusal(request: MessagesRequest, route: Route): GatewayError | undefined {
  try {
    messagesOver(request, route)
    return undefined
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
}
