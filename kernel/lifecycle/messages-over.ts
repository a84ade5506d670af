import { GatewayError } from '../plugin/index.ts'
import type { Route } from '../routing/catalog.ts'
import { messagesCall } from '../wire/messages-call.ts'
import type { MessagesRequest } from '../wire/messages-request.ts'

type Call = ReturnType<typeof messagesCall>

/** A messages request as the chat calls that routes are sent for it. */
export interface MessagesOver {
  /** Throws as `messagesCall` does. */
  call(route: Route): Call
  /** Why a route cannot take the request, for all its capabilities. */
  refusal(route: Route): GatewayError | undefined
}

/** Converts the request once for all routes that want it alike: planning asks before it is sent. */
export function messagesOver(request: MessagesRequest): MessagesOver {
  const made = new Map<string, Call | GatewayError>()

  function make({ bound, capabilities }: Route): Call | GatewayError {
    const { nativeMessages = false, compatShape = false } = bound
    const jsonSchema = capabilities.json_schema
    const key = `${nativeMessages} ${compatShape} ${jsonSchema}`
    const known = made.get(key)
    if (known !== undefined) return known
    let call: Call | GatewayError
    try {
      call = messagesCall(request, { nativeMessages, compatShape, jsonSchema })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      call = error
    }
    made.set(key, call)
    return call
  }

  return {
    call(route) {
      const call = make(route)
      if (call instanceof GatewayError) throw call
      return call
    },
    refusal(route) {
      const call = make(route)
      return call instanceof GatewayError ? call : undefined
    },
  }
}
