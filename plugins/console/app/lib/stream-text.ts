/** The reply text in one stream event of any of the gateway's APIs. */
export function textOfEvent(event: unknown): string {
  if (!isObject(event)) return ''
  // The responses API: {type: 'response.output_text.delta', delta}.
  if (event.type === 'response.output_text.delta') return textOf(event.delta)
  // The messages API: {type: 'content_block_delta', delta: {text}}.
  if (event.type === 'content_block_delta' && isObject(event.delta)) return textOf(event.delta.text)
  const [choice] = Array.isArray(event.choices) ? event.choices : []
  return isObject(choice) && isObject(choice.delta) ? textOf(choice.delta.content) : ''
}

/** The text of a whole reply of any of the gateway's APIs. */
export function textOfReply(body: unknown): string {
  if (!isObject(body)) return ''
  const [choice] = Array.isArray(body.choices) ? body.choices : []
  if (isObject(choice) && isObject(choice.message)) return textOf(choice.message.content)
  const parts = Array.isArray(body.output)
    ? body.output.flatMap((item) =>
        isObject(item) && Array.isArray(item.content) ? item.content : [],
      )
    : Array.isArray(body.content)
      ? body.content
      : []
  return parts.map((part) => (isObject(part) ? textOf(part.text) : '')).join('')
}

/** The gateway's error in a stream event. */
export function errorOfEvent(event: unknown): { code: string; message: string } | undefined {
  if (!isObject(event)) return undefined
  const response = isObject(event.response) ? event.response : undefined
  const error = isObject(event.error)
    ? event.error
    : isObject(response?.error)
      ? response.error
      : undefined
  if (error === undefined) return undefined
  return { code: textOf(error.code ?? error.type), message: textOf(error.message) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Arrays included. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
