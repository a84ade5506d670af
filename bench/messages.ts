import { createTestDatabase, testServer } from '../test/harness/database.ts'
import { MODEL, startBenchGateway, UPSTREAM_MODEL, upstreamProvider } from './gateways.ts'
import { startService } from './machine.ts'
import { measure, type Row, spread, stopLoadGenerator } from './measure.ts'
import { medianWithin } from './paired.ts'
import { chatBody } from './rows.ts'

/**
 * `bun bench/messages.ts`: compares a messages call on a route that speaks the messages API with a
 * chat call of the same size over a compatible upstream, in one gateway of profile G. Exit code 1
 * when the whole interval says that the messages call costs more.
 */
const PASSES = 24
const CONCURRENCY = 32
const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' }

function messagesBody(stream: boolean): string {
  const { messages, ...chat } = JSON.parse(chatBody({ stream })) as {
    messages: readonly { readonly role: string; readonly content: string }[]
  } & Record<string, unknown>
  const [system, ...turns] = messages
  const { max_completion_tokens: max_tokens, ...rest } = chat
  const said = { messages: turns, system: system?.content, max_tokens }
  return JSON.stringify({ ...rest, model: 'claude', ...said })
}

const server = await testServer()
const database = await createTestDatabase()
const upstream = await startService('./upstream.ts')
const chatRoute = {
  provider: 'upstream',
  upstream_model: UPSTREAM_MODEL,
  compatibility: { generic_compat: { supports_stream_usage: true } },
}
const claudeRoute = {
  provider: 'claude',
  upstream_model: 'anthropic.claude-sonnet-4-6',
  compatibility: { cloud_b_ml: { api_style: 'edge_native_messages' } },
}
const gateway = await startBenchGateway({
  profile: 'G',
  upstreamUrl: upstream.url,
  databaseUrl: database.url,
  sections: {
    providers: [
      upstreamProvider(upstream.url),
      {
        id: 'claude',
        type: 'cloud_b_ml',
        region: 'eu-west-1',
        endpoint_url: upstream.url,
        auth: { mode: 'bearer', token: 'literal.upstream' },
      },
    ],
    models: [
      { id: MODEL, routes: [chatRoute] },
      { id: 'claude', routes: [claudeRoute] },
    ],
  },
})
try {
  const target = { name: 'G', ...gateway, settles: true }
  for (const [title, stream, count] of [
    ['buffered', false, 1500],
    ['64 events in one piece', true, 500],
  ] as const) {
    const row = (id: keyof typeof PATHS, body: string): Row => ({
      ...{ id, title, body, count, warmUp: 6 * count, concurrency: CONCURRENCY },
      path: PATHS[id],
    })
    const rows = [row('chat', chatBody({ stream })), row('messages', messagesBody(stream))] as const
    const micros: Record<string, number[]> = { chat: [], messages: [] }
    for (const each of rows) await measure({ ...each, count: each.warmUp }, target, 0, [])
    for (let pass = 0; pass < PASSES; pass++) {
      for (const each of pass % 2 === 0 ? rows : rows.toReversed()) {
        micros[each.id]?.push((await measure(each, target, pass, [])).cpuMicros)
      }
    }
    const { chat = [], messages = [] } = micros
    const ratio = medianWithin(messages.map((cost, i) => cost / (chat[i] as number)))
    const figures = [spread(chat).median, spread(messages).median].map((each) => each.toFixed(0))
    console.log(
      `${title}: chat ${figures[0]} µs, messages ${figures[1]} µs, ${ratio.median.toFixed(3)} (${ratio.low.toFixed(3)} – ${ratio.high.toFixed(3)})`,
    )
    if (!(ratio.low <= 1)) process.exitCode = 1
  }
} finally {
  await gateway.stop()
  await upstream.stop()
  await stopLoadGenerator()
  await database.drop()
  await server.close()
}
