import type { SurfaceCall } from 'model-gateway/surface'

/**
 * The header `anthropic-beta` of a call as request headers, so that executors of the dialect send
 * its betas; undefined without betas.
 *
 * @example betaHeaders('mcp-client-2025-11-20') // { 'anthropic-beta': 'mcp-client-2025-11-20' }
 */
export function betaHeaders(betas: string | null): SurfaceCall['headers'] {
  return betas === null || betas.trim() === '' ? undefined : { 'anthropic-beta': betas }
}
