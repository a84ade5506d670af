import type { JsonObject } from 'model-gateway/plugin'
import { chatUsage, frame, type ReplyOptions, spoken } from './upstream-families.ts'

/** A reply of an API beside those of chat and embeddings, whole and, where it streams, as frames. */
interface OtherReply {
  readonly whole: JsonObject
  readonly frames?: readonly string[]
}

/** What an upstream would say at these paths; undefined at all others. */
export function otherReply(
  path: string,
  { model = 'unnamed' }: JsonObject,
  { text = spoken.pieces.join('') }: ReplyOptions = {},
): OtherReply | undefined {
  const [, api] = /\/(completions|moderations|rerank|images\/generations)$/.exec(path) ?? []
  switch (api) {
    case 'completions': {
      const head = { id: 'cmpl-1', object: 'text_completion', created: 1754300000, model }
      const piece = (said: string, finish_reason: string | null) => ({
        ...head,
        choices: [{ index: 0, text: said, logprobs: null, finish_reason }],
      })
      const counted = { ...head, choices: [], usage: chatUsage }
      return {
        whole: { ...piece(text, 'stop'), usage: chatUsage },
        frames: [...[piece(text, null), piece('', 'stop'), counted].map(frame), 'data: [DONE]\n\n'],
      }
    }
    case 'moderations':
      return { whole: { id: 'modr-1', model, results: [{ flagged: false, categories: {} }] } }
    case 'rerank': {
      const results = [{ index: 0, relevance_score: 0.9, document: { text } }]
      return { whole: { id: 'r-1', model, results, usage: { total_tokens: 41 } } }
    }
    case 'images/generations': {
      const picture = { b64_json: 'cml2ZXI=', revised_prompt: text }
      const usage = { input_tokens: 24, output_tokens: 17, total_tokens: 41 }
      const completed = { type: 'image_generation.completed', ...picture, usage }
      return {
        whole: { created: 1754300000, data: [picture], usage },
        frames: [frame({ ...completed, type: 'image_generation.partial_image' }), frame(completed)],
      }
    }
    default:
      return undefined
  }
}
