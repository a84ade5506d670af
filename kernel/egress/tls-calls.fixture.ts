/**
 * A separate process, because trusted certificates are read at its start: calls each given URL in
 * turn, with all names resolving to this machine, and prints the outcome.
 */
import { OutboundError } from '../plugin/index.ts'
import { createGate } from './gate.ts'

const gate = createGate({ resolve: async () => ['127.0.0.1'] })
const outcomes: string[] = []
for (const url of process.argv.slice(2)) {
  try {
    const reply = await gate.send(url, {
      method: 'GET',
      headers: {},
      policy: { allowPrivate: true, allowedCidrs: [] },
      signal: AbortSignal.timeout(10_000),
    })
    outcomes.push(`${reply.status} ${await reply.text()}`)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    outcomes.push(`${error.fault}: ${error.message}`)
  }
}
console.log(JSON.stringify(outcomes))
