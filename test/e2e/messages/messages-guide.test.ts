import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type Anthropic from '@anthropic-ai/sdk'
import { adaKey, startTestGateway, type TestGateway } from '../../harness/gateway.ts'

const guide = readFileSync(new URL('../../../docs/messages.md', import.meta.url), 'utf8')

/** The blocks of a language, in order. */
function blocks(language: string): string[] {
  return [...guide.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, text]) => text as string,
  )
}

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models: [{ id: 'demo', routes: [{ provider: 'sim', upstream_model: 'simulator-1' }] }],
  })
})

afterAll(() => gateway?.stop())

async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, GATEWAY_URL: gateway.url, GATEWAY_API_KEY: adaKey },
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  return text
}

test('the curl lines work as printed', async () => {
  const [buffered, streamed, count, ...more] = blocks('sh')
  expect(more).toEqual([])
  const reply = JSON.parse(await run(['sh', '-c', buffered as string])) as Anthropic.Message
  expect(reply).toMatchObject({ type: 'message', model: 'demo', stop_reason: 'end_turn' })
  const events = await run(['sh', '-c', streamed as string])
  expect(events).toStartWith('event: message_start\n')
  expect(events).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
  const [counted] = blocks('json')
  expect(JSON.parse(await run(['sh', '-c', count as string]))).toEqual(
    JSON.parse(counted as string),
  )
})

test('the program runs as printed', async () => {
  const [program, ...more] = blocks('ts')
  expect(more).toEqual([])
  // Beside this test, from where the client can be imported.
  const file = new URL(`guide-${process.pid}.tmp.ts`, import.meta.url).pathname
  writeFileSync(file, program as string)
  try {
    const message = JSON.parse(await run([process.execPath, file])) as Anthropic.Message
    expect(message).toMatchObject({ model: 'demo', stop_reason: 'tool_use' })
    expect(message.content.at(-1)).toMatchObject({ type: 'tool_use', name: 'get_weather' })
  } finally {
    rmSync(file)
  }
})

test('the error is answered as printed', async () => {
  const [, printed, ...more] = blocks('json')
  expect(more).toEqual([])
  const { error, type } = JSON.parse(printed as string)
  const response = await gateway.post('/v1/messages', {
    model: 'demo',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  expect(response.status).toBe(400)
  const requestId = response.headers.get('request-id') as string
  expect(await response.json()).toEqual({ type, error, request_id: requestId })
})
