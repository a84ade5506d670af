/** Everything that a reply of Google holds arrives, streamed as buffered. */
import { describe, expect, test } from 'bun:test'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { streamEvent } from 'model-gateway/wire'
import { chatFromGoogle } from './google-content-reply.ts'
import { chatChunksFromGoogle } from './google-content-stream.ts'
import { createToolNames, GOOGLE_NAMES } from './tool-names.ts'

const names = createToolNames(GOOGLE_NAMES)

const call = { surface: 'chat_completions', body: { model: 'asked' }, requestId: 'req-1' }

/** The message of a reply with these parts, and of a stream with one part in each response. */
async function said(parts: JsonObject[], more: JsonObject = {}, body: JsonObject = {}) {
  const asked = { ...call, body: { ...call.body, ...body } }
  const last = { finishReason: 'STOP', ...more }
  const reply = chatFromGoogle({ candidates: [{ content: { parts }, ...last }] }, asked, names)
  const [choice] = reply.choices as [JsonObject]
  async function* responses() {
    for (const part of parts) {
      const candidates = [{ content: { parts: [part] }, index: 0 }]
      yield [streamEvent(JSON.stringify({ candidates }))]
    }
    yield [streamEvent(JSON.stringify({ candidates: [{ index: 0, ...last }] }))]
  }
  const streamed: JsonObject = {}
  for await (const batch of chatChunksFromGoogle(responses(), asked, names)) {
    for (const event of batch) {
      if (event.data === '[DONE]') continue
      const [{ delta }] = (event.json() as { choices: [{ delta: JsonObject }] }).choices
      fold(streamed, delta)
    }
  }
  return { buffered: choice.message as JsonObject, streamed }
}

/** Texts join, lists grow, objects merge. */
function fold(into: JsonObject, delta: JsonObject): void {
  for (const [name, value] of Object.entries(delta)) {
    const own = into[name]
    if (typeof own === 'string' && name !== 'id' && name !== 'source') into[name] = own + value
    else if (Array.isArray(own)) own.push(...(value as JsonValue[]))
    else if (isJsonObject(own)) fold(own, value as JsonObject)
    else into[name] = structuredClone(value as JsonValue)
  }
}

const signature = (thought_signature: string) => ({
  extra_content: { google: { thought_signature } },
})
const functionCall = (name: string) => ({ functionCall: { name, args: {} } })
const signatures = ({ tool_calls: calls }: JsonObject) =>
  (calls as JsonObject[]).map(({ thought_signature, extra_content }) => [
    thought_signature,
    extra_content,
  ])

describe('thought signatures', () => {
  test.each([
    ['on the first of parallel calls', [{ ...functionCall('f'), thoughtSignature: 's' }]],
    ['alone after the calls', [functionCall('f')], [{ text: '', thoughtSignature: 's' }]],
    ['alone, without even a text', [functionCall('f')], [{ thoughtSignature: 's' }]],
  ] as [string, JsonObject[], JsonObject[]?][])('%s', async (_, first, after = []) => {
    const { buffered, streamed } = await said([...first, functionCall('g'), ...after])
    for (const message of [buffered, streamed]) {
      expect(signatures(message)).toEqual([
        ['s', signature('s').extra_content],
        [undefined, undefined],
      ])
      expect(message.extra_content).toBeUndefined()
    }
  })

  test.each([
    ['on a text', [{ text: 'a' }, { text: 'b', thoughtSignature: 't' }]],
    ['at the end of a text', [{ text: 'ab' }, { text: '', thoughtSignature: 't' }]],
  ])('%s are the message’s', async (_, parts) => {
    const { buffered, streamed } = await said(parts)
    expect(buffered).toEqual({ role: 'assistant', content: 'ab', ...signature('t') })
    expect(streamed).toEqual(buffered)
  })

  test('those of a text and of a call next to it do not mix', async () => {
    const parts = [
      { text: 'Look', thoughtSignature: 't' },
      { ...functionCall('f'), thoughtSignature: 's' },
      { text: '', thoughtSignature: 'u' },
    ]
    for (const message of Object.values(await said(parts))) {
      expect(signatures(message)).toEqual([['s', signature('s').extra_content]])
      expect(message.extra_content).toEqual(signature('u').extra_content)
    }
  })

  test('a signed thought keeps its signature', async () => {
    const parts = [{ text: 'hm', thought: true, thoughtSignature: 's' }, { text: 'a' }]
    for (const message of Object.values(await said(parts))) {
      expect(message.provider_metadata).toMatchObject({
        cloud_a_ml: { reasoning: { blocks: [{ type: 'thought', text: 'hm', signature: 's' }] } },
      })
      expect(message.extra_content).toBeUndefined()
    }
  })
})

describe('parts', () => {
  test('images, with their signatures', async () => {
    const parts = [
      { text: 'Here:' },
      { inlineData: { mimeType: 'image/png', data: 'QUJD' }, thoughtSignature: 's' },
      { fileData: { mimeType: 'image/webp', fileUri: 'gs://b/i' } },
    ]
    const { buffered, streamed } = await said(parts)
    expect(buffered).toEqual({
      role: 'assistant',
      content: 'Here:',
      images: [
        {
          type: 'image_url',
          image_url: { url: 'data:image/png;base64,QUJD' },
          index: 0,
          ...signature('s'),
        },
        { type: 'image_url', image_url: { url: 'gs://b/i' }, index: 1 },
      ],
    })
    expect(streamed).toEqual(buffered)
  })

  test('an image alone is an answer', async () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }]
    const odd = { finishReason: 'OTHER', finishMessage: 'Enough.' }
    const { buffered, streamed } = await said(parts, odd)
    for (const message of [buffered, streamed]) {
      expect(message.provider_metadata).toEqual({
        cloud_a_ml: { finish_reason: 'OTHER', finish_message: 'Enough.' },
      })
    }
    expect(streamed.images).toEqual(buffered.images)
    expect(buffered.content).toBe('')
  })

  const sound = (bytes: string) => ({
    inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: btoa(bytes) },
  })
  test('sound, in one piece or in several', async () => {
    const { buffered, streamed } = await said([sound('abcd'), sound('ef')])
    expect(buffered.audio).toMatchObject({ data: btoa('abcdef'), transcript: '' })
    expect((buffered.audio as JsonObject).expires_at).toBeNumber()
    const { id, data } = streamed.audio as JsonObject
    expect(id).toStartWith('audio_chatcmpl-')
    expect(data).toBe(btoa('abcd') + btoa('ef'))
  })

  test('sound with the header that wav has', async () => {
    const { buffered } = await said(
      [sound('abcd')],
      {},
      { audio: { voice: 'Kore', format: 'wav' } },
    )
    const bytes = Buffer.from(String((buffered.audio as JsonObject).data), 'base64')
    expect(bytes.subarray(0, 4).toString()).toBe('RIFF')
    expect([bytes.readUInt32LE(24), bytes.readUInt32LE(40), bytes.length]).toEqual([24_000, 4, 48])
    expect(bytes.subarray(44).toString()).toBe('abcd')
  })

  test('code and what it printed', async () => {
    const parts = [
      { text: 'Computing.' },
      { executableCode: { language: 'PYTHON', code: 'print("```")\n' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42\n' } },
      { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: 'boom' } },
    ]
    const { buffered, streamed } = await said(parts)
    expect(buffered.content).toBe(
      [
        'Computing.\n````python\nprint("```")\n````\n',
        '\n```\n42\n```\n',
        '\n```\nOUTCOME_FAILED\nboom\n```\n',
      ].join(''),
    )
    expect(streamed.content).toBe(buffered.content)
  })

  test.each<JsonObject>([
    { toolCall: { toolType: 'GOOGLE_SEARCH', id: 'a' } },
    { inlineData: { mimeType: 'video/mp4', data: 'QUJD' } },
    { fileData: { mimeType: 'application/pdf', fileUri: 'gs://b/x.pdf' } },
    { somethingNew: { a: 1 } },
  ])('what a chat has no member for, as it came: %j', async (part) => {
    const last = { finishMessage: 'Model generated function call(s).' }
    const { buffered, streamed } = await said([{ text: 'a' }, part], last)
    expect(buffered.provider_metadata).toEqual({ cloud_a_ml: { parts: [part] } })
    expect(streamed).toEqual(buffered)
  })
})

describe('other facts of a candidate', () => {
  const groundingMetadata = {
    webSearchQueries: ['capital of Norway'],
    groundingChunks: [
      { web: { uri: 'https://a.example/', title: 'a.example' } },
      { web: { uri: 'https://b.example/' } },
    ],
    groundingSupports: [
      // Bytes: the ø takes two.
      { segment: { startIndex: 8, endIndex: 13, text: 'Tvåa.' }, groundingChunkIndices: [0, 1] },
      { segment: { partIndex: 1, endIndex: 4, text: 'Øl 1' }, groundingChunkIndices: [0] },
    ],
  }
  const cited = (url: string, title: string, start_index: number, end_index: number) => ({
    type: 'url_citation',
    url_citation: { url, title, start_index, end_index },
  })

  test('sources are annotations, by character, and also unchanged', async () => {
    const parts = [{ text: 'Øl 1😀' }, { text: 'Tvåa. ' }, { text: 'End' }]
    const { buffered, streamed } = await said(parts, { groundingMetadata })
    expect(buffered.annotations).toEqual([
      cited('https://a.example/', 'a.example', 6, 11),
      cited('https://b.example/', 'https://b.example/', 6, 11),
      cited('https://a.example/', 'a.example', 0, 4),
    ])
    expect(buffered.provider_metadata).toEqual({
      cloud_a_ml: { grounding_metadata: groundingMetadata },
    })
    expect(streamed).toEqual(buffered)
  })

  test('sources without a passage apply to the whole text', async () => {
    const { groundingChunks } = groundingMetadata
    const { buffered } = await said([{ text: 'a' }], { groundingMetadata: { groundingChunks } })
    expect(buffered.annotations).toEqual([
      cited('https://a.example/', 'a.example', 0, 0),
      cited('https://b.example/', 'https://b.example/', 0, 0),
    ])
  })

  test('citations, pages that were read, ratings', async () => {
    const citations = [{ startIndex: 0, endIndex: 2, uri: 'https://c.example/', license: 'mit' }]
    const more = {
      citationMetadata: { citations },
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://d.example/' }] },
      safetyRatings: [{ category: 'X', probability: 'LOW' }],
    }
    const { buffered, streamed } = await said([{ text: 'abc' }], more)
    expect(buffered).toEqual({
      role: 'assistant',
      content: 'abc',
      annotations: [cited('https://c.example/', 'https://c.example/', 0, 2)],
      provider_metadata: {
        cloud_a_ml: {
          citation_metadata: more.citationMetadata,
          url_context_metadata: more.urlContextMetadata,
          safety_ratings: more.safetyRatings,
        },
      },
    })
    expect(streamed).toEqual(buffered)
  })
})
