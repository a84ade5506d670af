/** The six ways to call a model of the service, the values of `api_style`. */
export const apiStyles = [
  'runtime_unified',
  'runtime_native_invoke',
  'runtime_generic_chat',
  'edge_generic_responses',
  'edge_generic_chat',
  'edge_native_messages',
] as const
export type ApiStyle = (typeof apiStyles)[number]

/** Styles whose path depends on the model. */
export const genericStyles: ReadonlySet<unknown> = new Set<ApiStyle>([
  'runtime_generic_chat',
  'edge_generic_responses',
  'edge_generic_chat',
])

/** The hint for a caller who asks another style for JSON schema output. */
export function structuredOutputHint(style: ApiStyle): string {
  return `api_style ${style} has no structured output: call /v1/responses on a route with compatibility.cloud_b_ml.api_style edge_generic_responses`
}

export interface Endpoint {
  /** Scheme and host. */
  readonly origin: string
  /** The service name in the signature. */
  readonly service: string
}

/** Whether a style belongs to the edge service, not the runtime service. */
export const isEdge = (style: ApiStyle): boolean => style.startsWith('edge_')

/** URL of a style's calls; `endpointUrl` replaces scheme and host. */
export function endpointOf(
  style: ApiStyle,
  region: string,
  endpointUrl: string | undefined,
): Endpoint {
  const edge = isEdge(style)
  const host = edge
    ? `https://bedrock-mantle.${region}.api.aws`
    : `https://bedrock-runtime.${region}.amazonaws.com`
  return {
    origin: endpointUrl === undefined ? host : new URL(endpointUrl).origin,
    service: edge ? 'bedrock-mantle' : 'bedrock',
  }
}

/**
 * A model id as one path segment, because the service does not route paths with the `/` of an ARN.
 */
export function encodeModelId(id: string): string {
  const encoded = encodeURIComponent(id)
  return id.startsWith('arn:') ? encoded.replaceAll('%3A', ':') : encoded
}
