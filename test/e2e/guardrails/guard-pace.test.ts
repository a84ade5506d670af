import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestGateway, type TestGateway } from '../../harness/gateway.ts'
import { chatCompletion, json, startUpstream, type Upstream } from '../../harness/upstream.ts'

const packs = [
  'core.shell',
  'core.git',
  'core.filesystem',
  'database.sql',
  'cloud.provider_a',
  'cloud.provider_b',
  'saas.notes',
]
/** Commands of 64 KB that take as long as any that is not refused sooner. */
const worst = [
  'a|'.repeat(32_000),
  'echo {a,'.repeat(8_000),
  `echo ${'$a '.repeat(21_000)}`,
  'ssh h '.repeat(10_900),
  'cat <<E\na\nE\n'.repeat(5_400),
]
/** Many calls in one reply, each of which takes a while. */
const calls = Array.from({ length: 150 }, (_, at) => ({
  id: `call_${at}`,
  type: 'function',
  function: { name: 'bash', arguments: JSON.stringify({ command: 'ls;'.repeat(5_000) }) },
}))

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.always((x) => {
    const completion = chatCompletion(x.call.body as never)
    const message = { role: 'assistant', content: null, tool_calls: calls }
    return json({ ...completion, choices: [{ index: 0, finish_reason: 'tool_calls', message }] })(x)
  })
  gateway = await startTestGateway({
    providers: [{ id: 'up', type: 'generic_compat', base_url: upstream.url }],
    models: [{ id: 'm', routes: [{ provider: 'up', upstream_model: 'u' }] }],
    guardrails: { default: { enabled: true, mode: 'audit', packs } },
  })
}, 30_000)
afterAll(async () => {
  await gateway?.stop()
  await upstream?.stop()
})

/** Milliseconds that `/healthz` took at most while something else was going on. */
async function healthWhile(busy: Promise<unknown>): Promise<number> {
  let done = false
  const ended = busy.finally(() => {
    done = true
  })
  let longest = 0
  while (!done) {
    const start = performance.now()
    const reply = await fetch(`${gateway.url}/healthz`)
    expect(reply.status).toBe(200)
    longest = Math.max(longest, performance.now() - start)
  }
  await ended
  return longest
}

function evaluate(command: string): Promise<Response> {
  const body = { tool_name: 'bash', command }
  const json = { 'content-type': 'application/json' }
  return gateway.post('/api/v1/guardrails/evaluate', body, json)
}

test.each(worst.map((text) => [text.slice(0, 12), text]))(
  'ten verdicts at once on 64 KB of %p leave /healthz its turns',
  async (_, text) => {
    await evaluate(text)
    // The best of a few: others share the machine.
    let longest = Number.POSITIVE_INFINITY
    for (let run = 0; run < 4 && longest >= 100; run++) {
      const ten = Promise.all(Array.from({ length: 10 }, () => evaluate(text)))
      longest = Math.min(longest, await healthWhile(ten))
      for (const reply of await ten) expect(reply.status).toBe(200)
    }
    expect(longest).toBeLessThan(100)
  },
  30_000,
)

test('a reply with many tool calls leaves /healthz its turns', async () => {
  const messages = [{ role: 'user', content: 'hello' }]
  let longest = Number.POSITIVE_INFINITY
  for (let run = 0; run < 3 && longest >= 100; run++) {
    const reply = gateway.post('/v1/chat/completions', { model: 'm', messages })
    longest = Math.min(longest, await healthWhile(reply))
    expect((await reply).status).toBe(200)
  }
  expect(longest).toBeLessThan(100)
}, 60_000)
