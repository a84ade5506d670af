import { connect } from 'node:net'
import { OutboundError } from '../plugin/index.ts'

/**
 * The first address that takes a connection, each of them given its share of the time. `fetch` has
 * no limit of its own for connecting, and tries one address only.
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

function tryConnection(host: string, port: number, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const timer = setTimeout(() => {
      socket.destroy()
      reject(new OutboundError('timeout', 'the server took no connection in time'))
    }, timeoutMs)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.destroy()
      resolve()
    })
    socket.once('error', (error) => {
      clearTimeout(timer)
      const message = `the server took no connection${codeOf(error)}`
      reject(new OutboundError('transport', message, { cause: error }))
    })
  })
}

/** The code of a system's error, in brackets, behind a message. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
}
