/**
 * What plugins import whose providers keep files, batches and responses for callers, as
 * `model-gateway/resources`.
 */
import { extensionPoint, Shape, Type } from 'model-gateway/plugin'
import type { PricingIdentity } from 'model-gateway/provider'

/** What an upstream can keep for its callers, by the path of its API. */
export type ResourceKind = 'files' | 'batches' | 'responses'

/** One call in the name of a provider instance. */
export interface ResourceCall {
  readonly requestId: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below the base URL, with its query: `files/file-1/content`. */
  readonly path: string
  /** Beside those of the provider: `content-type`, `accept`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Blob
  /** Ends the call, and the body of its reply. */
  readonly signal: AbortSignal
}

/** A reply with a status from 200 to 299. */
export interface ResourceReply {
  readonly status: number
  readonly headers: Headers
  /** The body in pieces as they arrive. Throws GatewayError; to leave it early drops the rest. */
  readonly body: AsyncIterable<Uint8Array>
}

/** The account of a provider instance at its vendor. */
export interface UpstreamAccount {
  readonly kinds: readonly ResourceKind[]
  /** Throws GatewayError: `upstream_http_error` for any other status, or `upstream_transport`. */
  send(call: ResourceCall): Promise<ResourceReply>
  /** Where the price of a call of this model is found. */
  pricing(upstreamModel: string): PricingIdentity
}

/** Provided by plugins of providers. */
export interface UpstreamResources {
  /** By the id of a provider in the config; `undefined` for those of other plugins. */
  open(providerId: string): UpstreamAccount | undefined
}

export const upstreamResources = extensionPoint<UpstreamResources>('upstream_resources', 'many', {
  shape: Type.Object({ open: Shape.method() }),
})
