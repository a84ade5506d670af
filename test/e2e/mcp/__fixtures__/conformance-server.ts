/** A server with the tools, prompts and resources that the protocol's conformance suite asks for. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  type JSONRPCMessage,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const text = (words: string) => ({ type: 'text' as const, text: words })
const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' }
const resource = (uri: string, mimeType = 'text/plain') => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: 'An embedded resource.' },
})

const results = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio' as const, data: SOUND, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [resource('test://embedded-resource')] },
  test_multiple_content_types: {
    content: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json'),
    ],
  },
  test_error_handling: {
    isError: true,
    content: [text('This tool intentionally returns an error for testing')],
  },
}

const choices = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
} as const
const titled = ['1', '2', '3'].map((n) => ({ const: `value${n}`, title: `Option ${n}` }))
const plain = ['option1', 'option2', 'option3']
const enums = {
  untitledSingle: { type: 'string', enum: plain },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option 1', 'Option 2', 'Option 3'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: plain } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
} as const

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}

const tools = [
  ...Object.keys(results),
  'test_tool_with_logging',
  'test_tool_with_progress',
  'test_sampling',
  'test_elicitation',
  'test_elicitation_sep1034_defaults',
  'test_elicitation_sep1330_enums',
  'test_reconnection',
].map((name) => ({ name, description: name, inputSchema: { type: 'object' as const } }))

function createServer(called: () => void): Server {
  const server = new Server(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: {
        tools: {},
        prompts: {},
        resources: { subscribe: true },
        logging: {},
        completions: {},
      },
    },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      ...tools,
      { name: 'json_schema_2020_12_tool', description: 'A schema.', inputSchema: schema },
    ],
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    called()
    const { name, arguments: args = {} } = params
    if (name in results) return results[name as keyof typeof results]
    const elicit = async (message: string, properties: object) => {
      const requestedSchema = { type: 'object' as const, properties } as never
      const { action, content } = await server.elicitInput(
        { message, requestedSchema },
        { relatedRequestId: extra.requestId },
      )
      return {
        content: [text(`User response: action=${action}, content=${JSON.stringify(content)}`)],
      }
    }
    switch (name) {
      case 'test_tool_with_logging':
        for (const data of ['started', 'working', 'done']) {
          await extra.sendNotification({
            method: 'notifications/message',
            params: { level: 'info', data },
          })
          await Bun.sleep(50)
        }
        return { content: [text('Logged.')] }
      case 'test_tool_with_progress': {
        const { progressToken } = params._meta ?? {}
        for (const progress of [0, 50, 100]) {
          if (progressToken === undefined) continue
          await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          })
          await Bun.sleep(50)
        }
        return { content: [text('Done.')] }
      }
      case 'test_sampling': {
        const messages = [{ role: 'user' as const, content: text(String(args.prompt)) }]
        const { content } = await server.createMessage(
          { messages, maxTokens: 100 },
          { relatedRequestId: extra.requestId },
        )
        return { content: [text(`LLM response: ${JSON.stringify(content)}`)] }
      }
      case 'test_elicitation':
        return await elicit(String(args.message), { response: { type: 'string' } })
      case 'test_elicitation_sep1034_defaults':
        return await elicit('Defaults', choices)
      case 'test_elicitation_sep1330_enums':
        return await elicit('Choices', enums)
      case 'test_reconnection':
        extra.closeSSEStream?.()
        await Bun.sleep(100)
        return { content: [text('Reconnected.')] }
      default:
        throw new Error(`there is no tool ${name}`)
    }
  })
  const prompt = (
    ...content: (ReturnType<typeof text> | typeof image | ReturnType<typeof resource>)[]
  ) => ({
    messages: content.map((one) => ({ role: 'user' as const, content: one })),
  })
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: [
      { name: 'test_simple_prompt', description: 'Simple.' },
      {
        name: 'test_prompt_with_arguments',
        description: 'With arguments.',
        arguments: [
          { name: 'arg1', description: 'First.', required: true },
          { name: 'arg2', description: 'Second.', required: true },
        ],
      },
      { name: 'test_prompt_with_embedded_resource', description: 'With a resource.' },
      { name: 'test_prompt_with_image', description: 'With an image.' },
    ],
  }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const { arg1, arg2, resourceUri = 'test://example-resource' } = params.arguments ?? {}
    switch (params.name) {
      case 'test_prompt_with_arguments':
        return prompt(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))
      case 'test_prompt_with_embedded_resource':
        return prompt(resource(resourceUri), text('Please process the resource.'))
      case 'test_prompt_with_image':
        return prompt(image, text('Please analyse the image.'))
      default:
        return prompt(text('This is a simple prompt for testing.'))
    }
  })
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
      uri: `test://${name}`,
      name,
      description: name,
      mimeType: name === 'static-binary' ? 'image/png' : 'text/plain',
    })),
  }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
    ],
  }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    if (uri === 'test://static-binary')
      return { contents: [{ uri, mimeType: 'image/png', blob: PIXEL }] }
    const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1]
    const words =
      id === undefined ? 'A static text.' : JSON.stringify({ id, data: `Data for ID: ${id}` })
    return {
      contents: [
        { uri, mimeType: id === undefined ? 'text/plain' : 'application/json', text: words },
      ],
    }
  })
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: ['test'], total: 1 },
  }))
  for (const empty of [SetLevelRequestSchema, SubscribeRequestSchema, UnsubscribeRequestSchema]) {
    server.setRequestHandler(empty, () => ({}))
  }
  return server
}

function createEventStore() {
  const events: {
    readonly id: string
    readonly stream: string
    readonly message: JSONRPCMessage
  }[] = []
  return {
    async storeEvent(stream: string, message: JSONRPCMessage) {
      const id = `${stream}_${events.length}`
      events.push({ id, stream, message })
      return id
    },
    async replayEventsAfter(
      last: string,
      { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
    ) {
      const at = events.findIndex(({ id }) => id === last)
      const stream = events[at]?.stream ?? ''
      for (const event of events.slice(at + 1)) {
        if (event.stream === stream) await send(event.id, event.message)
      }
      return stream
    },
  }
}

export function startConformanceServer() {
  let calls = 0
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const http = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const host = request.headers.get('host')?.replace(/:\d+$/, '')
      if (host !== 'localhost' && host !== '127.0.0.1') return new Response(null, { status: 403 })
      const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
      if (known !== undefined) return await known.handleRequest(request)
      if (request.headers.has('mcp-session-id')) return new Response(null, { status: 404 })
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
        eventStore: createEventStore(),
        retryInterval: 200,
      })
      await createServer(() => {
        calls += 1
      }).connect(transport as Parameters<Server['connect']>[0])
      return await transport.handleRequest(request)
    },
  })
  return {
    url: `http://localhost:${http.port}/mcp`,
    /** Tool calls so far. */
    calls: () => calls,
    stop: () => http.stop(true),
  }
}
