import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import type { ProviderCall, ProviderResult } from 'model-gateway/provider'
import { type StreamEvent, streamEvent } from 'model-gateway/wire'
import type { OutboundBody } from './outbound-body.ts'
import { createToolNames, NAMES_OF_64, type ToolNames } from './tool-names.ts'

/**
 * Sends a call from the messages API, whose tool names have up to 128 characters, to an upstream
 * that accepts 64, as OpenAI does. Other calls are unchanged.
 */
export function withToolNames(
  body: OutboundBody,
  { surface }: Pick<ProviderCall, 'surface'>,
  send: () => Promise<ProviderResult>,
): Promise<ProviderResult> {
  return surface === 'messages' ? sendRenamed(body, send) : send()
}

async function sendRenamed(
  body: OutboundBody,
  send: () => Promise<ProviderResult>,
): Promise<ProviderResult> {
  const names = createToolNames(NAMES_OF_64)
  rename(body, names)
  const result = await send()
  if (names.renamed.size === 0) return result
  if (result.kind === 'stream') return { ...result, events: restoreEvents(result.events, names) }
  const text = restored(result.rawBody ?? JSON.stringify(result.body), names)
  return {
    ...result,
    body: JSON.parse(text) as JsonObject,
    ...(result.rawBody === undefined ? {} : { rawBody: text }),
  }
}

function rename(body: OutboundBody, names: ToolNames): void {
  let renamed = false
  const named = (entry: JsonValue): JsonValue => {
    const called = isJsonObject(entry) ? entry.function : undefined
    if (!isJsonObject(called) || typeof called.name !== 'string') return entry
    const name = names.sent(called.name)
    if (name === called.name) return entry
    renamed = true
    return { ...(entry as JsonObject), function: { ...called, name } }
  }
  const namedInEach = (list: JsonValue) => (Array.isArray(list) ? list.map(named) : list)
  const calledIn = (message: JsonValue): JsonValue =>
    isJsonObject(message) && Array.isArray(message.tool_calls)
      ? { ...message, tool_calls: message.tool_calls.map(named) }
      : message

  for (const [member, convert] of [
    ['tools', namedInEach],
    ['tool_choice', named],
    ['messages', (list) => (Array.isArray(list) ? list.map(calledIn) : list)],
  ] as [string, (value: JsonValue) => JsonValue][]) {
    renamed = false
    const value = convert(body.get(member) ?? null)
    if (renamed) body.set(member, value)
  }
}

/** Replaces only whole JSON strings, because a sent name never occurs inside another string. */
function restored(text: string, { renamed }: ToolNames): string {
  let out = text
  for (const [sent, asked] of renamed) out = out.replaceAll(`"${sent}"`, JSON.stringify(asked))
  return out
}

async function* restoreEvents(
  events: AsyncIterable<readonly StreamEvent[]>,
  names: ToolNames,
): AsyncGenerator<readonly StreamEvent[]> {
  for await (const batch of events) {
    yield batch.map((event) => {
      const data = restored(event.data, names)
      return data === event.data ? event : streamEvent(data, event.event)
    })
  }
}
