import { once } from 'node:events'
import { connect } from 'node:net'
import { inTime, OutboundError } from '../plugin/index.ts'

/**
 * Returns the first address that accepts a connection; each address gets a share of the time.
 * Needed because `fetch` has no connect timeout and tries one address only.
 */
export async function firstThatAnswers(
  addresses: readonly string[],
  port: number,
  timeoutMs: number,
): Promise<string> {
  const endsAt = performance.now() + timeoutMs
  let failure: OutboundError | undefined
  for (const [index, address] of addresses.entries()) {
    const share = (endsAt - performance.now()) / (addresses.length - index)
    try {
      await tryConnection(address, port, share)
      return address
    } catch (error) {
      failure = error as OutboundError
    }
  }
  throw failure
}

async function tryConnection(host: string, port: number, timeoutMs: number): Promise<void> {
  const socket = connect({ host, port })
  const connected = once(socket, 'connect').catch((cause: unknown) => {
    const message = `the server did not accept a connection${codeOf(cause)}`
    throw new OutboundError('transport', message, { cause })
  })
  try {
    const done = await inTime(connected, timeoutMs)
    if (done === undefined) {
      throw new OutboundError('timeout', 'the server did not accept a connection in time')
    }
  } finally {
    socket.destroy()
  }
}

/** The error code in brackets, to append to a message. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
}
