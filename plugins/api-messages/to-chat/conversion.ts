import { GatewayError } from 'model-gateway/plugin'
import type { Conversion, ConversionRoute, ConvertedCall } from 'model-gateway/surface'
import { messagesCall } from './call.ts'
import { messagesReply } from './reply.ts'
import type { MessagesRequest } from './request.ts'
import { createMessagesStream } from './stream.ts'

/** Calls of the messages API on routes that execute chat completions. */
export const messagesToChat: Conversion<MessagesRequest> = {
  from: 'messages',
  to: 'chat_completions',
  request: convertOnce,
  reply: messagesReply,
  stream: createMessagesStream,
}

/** Converts the request once for all routes that want it alike: planning asks before it is sent. */
function convertOnce(request: MessagesRequest) {
  const made = new Map<string, ConvertedCall | GatewayError>()

  function make({ bound, capabilities, spec }: ConversionRoute): ConvertedCall | GatewayError {
    const compatShape = bound.compatShape === true
    const jsonSchema = capabilities.json_schema === true
    const { unsupportedParams: unsupported } = spec
    const reads = new Set(bound.reads)
    const { takesEffort } = bound
    const key = `${compatShape} ${jsonSchema} ${[...reads]} ${takesEffort} ${unsupported}`
    const known = made.get(key)
    if (known !== undefined) return known
    let call: ConvertedCall | GatewayError
    try {
      call = messagesCall(request, { compatShape, jsonSchema, reads, takesEffort, unsupported })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      call = error
    }
    made.set(key, call)
    return call
  }

  return (route: ConversionRoute) => {
    const call = make(route)
    if (call instanceof GatewayError) throw call
    return call
  }
}
