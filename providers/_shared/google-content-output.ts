import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { ReplyPart } from './google-content-candidate.ts'

/**
 * A reply part other than text and calls: an image, audio, or code and its output, which a chat shows
 * as text. Undefined for other parts.
 */
export function mediaOfReply(part: JsonObject): ReplyPart | undefined {
  const { inlineData, fileData, executableCode, codeExecutionResult } = part
  if (isJsonObject(executableCode)) {
    const { language, code } = executableCode
    const named = typeof language === 'string' && language !== 'LANGUAGE_UNSPECIFIED'
    return { kind: 'text', text: fenced(named ? language.toLowerCase() : '', code) }
  }
  if (isJsonObject(codeExecutionResult)) {
    const { outcome, output } = codeExecutionResult
    const failed = typeof outcome === 'string' && outcome !== 'OUTCOME_OK'
    return { kind: 'text', text: fenced('', failed ? `${outcome}\n${output ?? ''}` : output) }
  }
  if (isJsonObject(inlineData)) {
    const { mimeType, data } = inlineData
    if (typeof mimeType !== 'string' || typeof data !== 'string') return undefined
    if (mimeType.startsWith('image/')) return image(`data:${mimeType};base64,${data}`)
    if (mimeType.startsWith('audio/')) return { kind: 'audio', data, mimeType }
  }
  if (isJsonObject(fileData)) {
    const { mimeType, fileUri } = fileData
    if (String(mimeType).startsWith('image/') && typeof fileUri === 'string') return image(fileUri)
  }
  return undefined
}

function image(url: string): ReplyPart {
  return { kind: 'image', image: { type: 'image_url', image_url: { url } } }
}

/** A Markdown block with a fence that the text does not contain. */
function fenced(language: string, text: JsonObject[string]): string {
  const body = String(text ?? '').replace(/\n$/, '')
  const longest = Math.max(2, ...(body.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `\n${fence}${language}\n${body}\n${fence}\n`
}

/** `message.audio` for the audio of a reply. The transcript is the reply's text, if any. */
export function audioMember(
  id: string,
  pieces: readonly { readonly data: string; readonly mimeType: string }[],
  format: JsonObject[string],
): JsonObject {
  const bytes = Buffer.concat(pieces.map(({ data }) => Buffer.from(data, 'base64')))
  const raw = /^audio\/(?:l16|pcm)\b/i.exec(pieces[0]?.mimeType ?? '') !== null
  const whole = raw && format === 'wav' ? Buffer.concat([wavHeader(bytes.length), bytes]) : bytes
  return {
    id,
    data: whole.toString('base64'),
    expires_at: Math.floor(Date.now() / 1000),
    transcript: '',
  }
}

/** Google's raw audio: 16 bits, one channel, 24,000 Hz, as OpenAI's `pcm16`. */
function wavHeader(length: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + length, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(24_000, 24)
  header.writeUInt32LE(48_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(length, 40)
  return header
}
