/**
 * A process of its own, because certificates to trust are read when it starts: calls each URL that it
 * is given, one after the other, every name being this machine's, and tells what came of it.
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
