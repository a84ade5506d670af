import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { piecesOf } from './token-pieces.ts'

/** The program of a thread that counts tokens: one number for each list of texts. */
declare const self: Worker

// What a text says of special tokens is text.
const AS_TEXT = { disallowedSpecial: new Set<string>() }

self.onmessage = ({ data }: MessageEvent<readonly string[]>) => {
  let tokens = 0
  for (const text of data) {
    const pieces = piecesOf(text)
    for (const piece of pieces) tokens += countTokens(piece, AS_TEXT)
    // Each cut can make two tokens of one.
    tokens -= Math.max(0, pieces.length - 1)
  }
  self.postMessage(tokens)
}
