/** The six ways to call a model of the service, as `api_style` names them. */
export const apiStyles = [
  'runtime_unified',
  'runtime_native_invoke',
  'runtime_generic_chat',
  'edge_generic_responses',
  'edge_generic_chat',
  'edge_native_messages',
] as const
export type ApiStyle = (typeof apiStyles)[number]

/** Styles whose path the service leaves open: it depends on the model. */
export const genericStyles: ReadonlySet<unknown> = new Set<ApiStyle>([
  'runtime_generic_chat',
  'edge_generic_responses',
  'edge_generic_chat',
])

/** What to tell a caller who asks another style for JSON that follows a schema. */
export function structuredOutputHint(style: ApiStyle): string {
  return `api_style ${style} has no structured output: call /v1/responses on a route with compatibility.cloud_b_ml.api_style edge_generic_responses`
}

export interface Endpoint {
  /** Scheme and host. */
  readonly origin: string
  /** What the signature calls the service. */
  readonly service: string
}

/** Whether a style is one of the edge service, not of the runtime service. */
export const isEdge = (style: ApiStyle): boolean => style.startsWith('edge_')

/** Where a style's calls go; `endpointUrl` replaces scheme and host. */
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

/** A model id as one segment of a path: the service routes no path with the `/` of an ARN in it. */
export function encodeModelId(id: string): string {
  const encoded = encodeURIComponent(id)
  return id.startsWith('arn:') ? encoded.replaceAll('%3A', ':') : encoded
}
