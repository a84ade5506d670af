/** Why a discovery came to nothing: fit to be kept and shown, without a word of the upstream's. */
export class DiscoveryFailure extends Error {
  override readonly name = 'DiscoveryFailure'
  /** The status that the upstream answered with, where it did. */
  readonly upstreamStatus: number | undefined
  constructor(summary: string, upstreamStatus?: number) {
    super(summary.slice(0, 512))
    this.upstreamStatus = upstreamStatus
  }
}
