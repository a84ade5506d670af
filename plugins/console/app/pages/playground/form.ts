export const surfaces = [
  { key: 'chat_completions', label: 'Chat' },
  { key: 'responses', label: 'Responses' },
  { key: 'messages', label: 'Messages' },
] as const

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** The input of the form; numbers are kept as text. */
export interface Form {
  readonly surface: (typeof surfaces)[number]['key']
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly maxTokens: string
  readonly temperature: string
  readonly topP: string
  readonly stream: boolean
}

export const usual: Form = {
  surface: 'chat_completions',
  model: '',
  system: '',
  messages: [{ role: 'user', content: '' }],
  maxTokens: '',
  temperature: '',
  topP: '',
  stream: true,
}

/** The Messages API requires a limit. */
const USUAL_MAX_TOKENS = 1024

/** The body of the call for the chosen API. */
export function bodyOf(form: Form): Readonly<Record<string, unknown>> {
  const { surface, model, system, stream } = form
  const messages = form.messages.filter(({ content }) => content !== '')
  const number = (name: string, text: string) =>
    text.trim() === '' ? {} : { [name]: Number(text) }
  const shared = {
    ...number('temperature', form.temperature),
    ...number('top_p', form.topP),
    stream,
  }
  if (surface === 'responses') {
    return {
      model,
      ...(system !== '' && { instructions: system }),
      input: messages,
      ...number('max_output_tokens', form.maxTokens),
      ...shared,
    }
  }
  if (surface === 'messages') {
    return {
      model,
      ...(system !== '' && { system }),
      messages,
      max_tokens: USUAL_MAX_TOKENS,
      ...number('max_tokens', form.maxTokens),
      ...shared,
    }
  }
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...messages],
    ...number('max_tokens', form.maxTokens),
    ...shared,
    ...(stream && { stream_options: { include_usage: true } }),
  }
}
