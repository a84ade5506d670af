/**
 * Why a discovery failed. The message can be stored and shown: it contains nothing of the server's
 * reply.
 */
export class DiscoveryFailure extends Error {
  override readonly name = 'DiscoveryFailure'
  /** The HTTP status of the server, if it answered. */
  readonly upstreamStatus: number | undefined
  constructor(summary: string, upstreamStatus?: number) {
    super(summary.slice(0, 512))
    this.upstreamStatus = upstreamStatus
  }
}
