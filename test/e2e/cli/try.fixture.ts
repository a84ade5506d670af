/** Vendors on a loopback port, each below a path of its name, as their pages describe their APIs. */
import type { JsonObject } from 'model-gateway/plugin'
import { chat, responses } from '../../../kernel/wire/usage-dialects.fixture.ts'
import { strictRefusal } from '../../harness/strict-clouds.ts'
import {
  chatCompletion,
  chatFrames,
  embeddingsList,
  frame,
  responseFrames,
  responseObject,
} from '../../harness/upstream.ts'
import { otherReply } from '../../harness/upstream-others.ts'

export const keyOf = (vendor: string) => `key-of-${vendor}-canary`

interface Call {
  readonly vendor: string
  /** Behind the vendor's name. */
  readonly path: string
  /** Of a form: its fields, and its files by the name of their field. */
  readonly body: JsonObject
  readonly files: Readonly<Record<string, Uint8Array>>
}

const EVENTS = { 'content-type': 'text/event-stream' }
const events = (frames: readonly string[]) => new Response(frames.join(''), { headers: EVENTS })
const said = (rows: typeof chat, seller: string) =>
  rows.find((row) => row.seller.startsWith(seller))?.reply as JsonObject

/** What replies say of tokens or of their cost where that is not OpenAI's way; the fixture has the pages. */
const used: Readonly<Record<string, JsonObject>> = {
  deepseek: said(chat, 'DeepSeek'),
  openrouter: said(chat, 'OpenRouter'),
  groq: said(chat, 'Groq'),
  mistral: said(chat, 'Mistral, without'),
  xai: said(chat, 'xAI, whose'),
  moonshot: said(chat, 'Moonshot'),
}

const plain = { usage: { prompt_tokens: 60, completion_tokens: 5, total_tokens: 65 } }

const ranked = { index: 0, relevance_score: 0.93 }
const total = { total_tokens: 15 }
const rerankings: Readonly<Record<string, JsonObject>> = {
  // https://docs.cohere.com/reference/rerank
  cohere: { id: 'r1', results: [ranked], meta: { billed_units: { input_tokens: 15 } } },
  // https://docs.fireworks.ai/api-reference/rerank-documents
  fireworks: { object: 'list', data: [ranked], usage: { ...total, prompt_tokens: 15 } },
  // https://docs.voyageai.com/reference/reranker-api
  voyage: { object: 'list', data: [ranked], usage: total },
}

const tokens = { type: 'tokens', input_tokens: 14, output_tokens: 5, total_tokens: 19 }
const transcripts: Readonly<Record<string, JsonObject>> = {
  // https://console.groq.com/docs/speech-to-text
  groq: { text: 'Ready.', x_groq: { id: 'req_1' } },
  // https://docs.mistral.ai/capabilities/audio_transcription
  mistral: {
    ...{ model: 'voxtral-mini-2507', text: 'Ready.', language: null, segments: [] },
    usage: { prompt_audio_seconds: 1, prompt_tokens: 4, total_tokens: 30, completion_tokens: 26 },
  },
}

const url = 'https://example.com/a.png'
const pictures: Readonly<Record<string, JsonObject>> = {
  // https://docs.x.ai/docs/guides/image-generations
  xai: { data: [{ url, mime_type: 'image/jpeg', revised_prompt: '' }] },
}

/** https://console.groq.com/docs/text-to-speech/orpheus */
const groqVoices = ['autumn', 'diana', 'hannah', 'austin', 'daniel', 'troy']

class Refused extends Error {}

/** The vendor's reply. Throws Refused for a call that it would not take. */
function answer({ vendor, path, body, files }: Call): Response {
  const require = (holds: boolean, what: string) => {
    if (!holds) throw new Refused(`${what} of ${JSON.stringify(body)}`)
  }
  const model = String(body.model)
  const streamed = body.stream === true
  const counts = used[vendor] ?? plain
  switch (path.replace(/^.*\/(v\d\w*(\/openai)?|deepseek)\//, '')) {
    case 'chat/completions': {
      // https://docs.mistral.ai/api, https://docs.ai21.com/reference/jamba-api-response
      const unasked = vendor === 'mistral' || vendor === 'ai21'
      require(!unasked || body.stream_options === undefined, 'extra_forbidden: stream_options')
      if (!streamed) return Response.json({ ...chatCompletion(body), ...counts })
      const counted = { choices: [], ...counts }
      const frames = chatFrames({ ...body, stream_options: null })
      return events([...frames.slice(0, -1), frame(counted), ...frames.slice(-1)])
    }
    case 'responses': {
      const refused = strictRefusal('/v1/responses', body)
      if (refused) return Response.json(refused.json, refused)
      const usage = said(responses, 'Perplexity').usage as JsonObject
      const options = vendor === 'perplexity' ? { usage } : {}
      return streamed
        ? events(responseFrames(body, options))
        : Response.json(responseObject(body, options))
    }
    case 'completions':
      return Response.json({ ...otherReply(path, body)?.whole, ...plain })
    case 'embeddings': {
      const list = embeddingsList(body)
      // Signed bytes as base64, and nothing else: https://docs.perplexity.ai/docs/embeddings/quickstart
      const embedding = Buffer.from([1, 127, 255]).toString('base64')
      const data = [{ object: 'embedding', index: 0, embedding }]
      return Response.json(vendor === 'perplexity' ? { ...list, data } : list)
    }
    case 'rerank':
      return Response.json(rerankings[vendor])
    case 'images/generations':
      return Response.json(pictures[vendor] ?? otherReply(path, body)?.whole)
    case 'images/edits':
      require(isPng(files.image), 'image is not a picture')
      return Response.json(otherReply('/images/generations', body)?.whole)
    case 'audio/speech': {
      require(vendor !== 'groq' || groqVoices.includes(String(body.voice)), 'voice')
      require(body.response_format === 'wav', 'response_format')
      if (body.stream_format === 'sse') {
        const usage = { input_tokens: 9, output_tokens: 101, total_tokens: 110 }
        const done = { type: 'speech.audio.done', usage }
        return events([frame({ type: 'speech.audio.delta', audio: 'cml2ZXI=' }), frame(done)])
      }
      return new Response(new Uint8Array(3000), { headers: { 'content-type': 'audio/wav' } })
    }
    case 'audio/translations':
      // https://platform.openai.com/docs/api-reference/audio/createTranslation, and of Groq
      require(/whisper(?!.*turbo)/.test(model), 'model does not support translation')
      require(isSound(files.file), 'file is not sound')
      return Response.json({ text: 'Ready.' })
    case 'audio/transcriptions': {
      require(isSound(files.file), 'file is not sound')
      const heard = /^gpt-4o/.test(model) && { usage: tokens }
      return Response.json(transcripts[vendor] ?? { text: 'Ready.', ...heard })
    }
    default: {
      const other = otherReply(path, body)
      require(other !== undefined, `no ${path} at ${vendor}`)
      return Response.json(other?.whole)
    }
  }
}

const isSound = (file?: Uint8Array) =>
  file !== undefined && Buffer.from(file.subarray(0, 4)).toString() === 'RIFF' && file.length > 1000
const isPng = (file?: Uint8Array) =>
  file !== undefined && Buffer.from(file.subarray(1, 4)).toString() === 'PNG'

/** Serves `/VENDOR/…` to calls with the key of the vendor. */
export function startVendors(): { readonly url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const [, vendor = '', ...rest] = new URL(request.url).pathname.split('/')
      const { headers } = request
      const key = headers.get('api-key') ?? headers.get('authorization')?.replace('Bearer ', '')
      if (key !== undefined && key !== keyOf(vendor)) {
        const message = `Invalid API Key: ${key}`
        return Response.json({ error: { message, type: 'invalid_request_error' } }, { status: 401 })
      }
      try {
        return answer({ vendor, path: `/${vendor}/${rest.join('/')}`, ...(await bodyOf(request)) })
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        return Response.json({ error: { message: error.message } }, { status: 400 })
      }
    },
  })
  return { url: server.url.href, stop: () => server.stop(true) }
}

async function bodyOf(request: Request): Promise<Pick<Call, 'body' | 'files'>> {
  if (request.headers.get('content-type')?.startsWith('application/json')) {
    return { body: (await request.json()) as JsonObject, files: {} }
  }
  const body: Record<string, string> = {}
  const files: Record<string, Uint8Array> = {}
  for (const [name, value] of await request.formData()) {
    if (typeof value === 'string') body[name] = value
    else files[name] = await value.bytes()
  }
  return { body, files }
}
