import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { piecesOf } from './token-pieces.ts'

/** The token counting thread: one number for each list of texts. */
declare const self: Worker

// Special tokens in a text are counted as text.
const AS_TEXT = { disallowedSpecial: new Set<string>() }

self.onmessage = ({ data }: MessageEvent<readonly string[]>) => {
  let tokens = 0
  for (const text of data) {
    const pieces = piecesOf(text)
    for (const piece of pieces) tokens += countTokens(piece, AS_TEXT)
    // Each cut can split one token in two.
    tokens -= Math.max(0, pieces.length - 1)
  }
  self.postMessage(tokens)
}
