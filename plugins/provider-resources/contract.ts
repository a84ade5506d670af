/**
 * The module `model-gateway/resources`, for plugins of providers that store files, batches and
 * responses for callers.
 */
import { extensionPoint, Shape, Type } from 'model-gateway/plugin'
import type { PricingIdentity } from 'model-gateway/provider'

/** Kinds of resources that an upstream stores, by the path of its API. */
export type ResourceKind = 'files' | 'batches' | 'responses'

/** One call with the credentials of a provider instance. */
export interface ResourceCall {
  readonly requestId: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path below the base URL, with the query: `files/file-1/content`. */
  readonly path: string
  /** Headers in addition to those of the provider: `content-type`, `accept`. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Blob
  /** Aborts the call and the body of its reply. */
  readonly signal: AbortSignal
}

/** A reply with a status from 200 to 299. */
export interface ResourceReply {
  readonly status: number
  readonly headers: Headers
  /** The body in chunks. Throws GatewayError; ending the iteration early drops the rest. */
  readonly body: AsyncIterable<Uint8Array>
}

/** A provider instance's account at its vendor. */
export interface UpstreamAccount {
  readonly kinds: readonly ResourceKind[]
  /** Throws GatewayError: `upstream_http_error` for any other status, or `upstream_transport`. */
  send(call: ResourceCall): Promise<ResourceReply>
  /** The pricing identity of a model. */
  pricing(upstreamModel: string): PricingIdentity
}

/** Provided by plugins of providers. */
export interface UpstreamResources {
  /**
   * The account of a provider id in the config; `undefined` if the provider belongs to another
   * plugin.
   */
  open(providerId: string): UpstreamAccount | undefined
}

export const upstreamResources = extensionPoint<UpstreamResources>('upstream_resources', 'many', {
  shape: Type.Object({ open: Shape.method() }),
})
