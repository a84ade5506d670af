import { GatewayError } from 'model-gateway/plugin'
import type { ConversionRoute, ConvertedCall } from 'model-gateway/surface'

/** The route settings that a conversion to chat completions depends on. */
export interface ChatTraits {
  readonly compatShape: boolean
  /** Whether the route supports JSON schemas. */
  readonly jsonSchema: boolean
  /** See `BoundRoute.reads`. */
  readonly reads: ReadonlySet<string>
  readonly takesEffort?: ConversionRoute['bound']['takesEffort']
  readonly unsupported?: ConversionRoute['spec']['unsupportedParams']
}

/**
 * Converts a request once for all routes with the same settings: planning already converts, before
 * sending.
 */
export function convertOnce(
  convert: (traits: ChatTraits) => ConvertedCall,
): (route: ConversionRoute) => ConvertedCall {
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
      call = convert({ compatShape, jsonSchema, reads, takesEffort, unsupported })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      call = error
    }
    made.set(key, call)
    return call
  }

  return (route) => {
    const call = make(route)
    if (call instanceof GatewayError) throw call
    return call
  }
}
