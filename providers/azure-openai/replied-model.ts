import type { JsonValue } from 'model-gateway/plugin'
import type { BoundRoute, Execute } from 'model-gateway/provider'
import type { StreamEvent } from 'model-gateway/wire'

interface Deployment {
  readonly deployment: string
  /** The model that calls are priced as. */
  readonly model: string
  /** The member of chat replies with the upstream's model. */
  readonly chatMember: 'model' | 'provider_model'
  warn(message: string): void
}

/**
 * The same executors, which warn once if replies have another model than the one that the
 * deployment is priced as. Otherwise a deployment with another name could have a wrong price.
 */
export function watchingModel(
  execute: BoundRoute['execute'],
  { deployment, model, chatMember, warn }: Deployment,
): BoundRoute['execute'] {
  let known = false

  function learn(replied: JsonValue | undefined): void {
    // A stream's first chunk, about the prompt only, has no model.
    if (known || typeof replied !== 'string' || replied === '') return
    known = true
    if (isVersionOf(replied, model)) return
    warn(
      `the deployment "${deployment}" replies as model ${replied}, but is priced as ${model}: set compatibility.azure_openai.model on its routes`,
    )
  }

  async function* learning(events: AsyncIterable<readonly StreamEvent[]>, stated: RegExp) {
    for await (const batch of events) {
      for (const { data } of known ? [] : batch) {
        const value = stated.exec(data)?.[1]
        if (value !== undefined) learn(JSON.parse(value) as JsonValue)
      }
      yield batch
    }
  }

  const watch = (own: Execute, member: string): Execute => {
    const stated = new RegExp(`"${member}": ?("(?:[^"\\\\]|\\\\.)*")`)
    return async (call) => {
      const result = await own(call)
      if (known) return result
      if (result.kind === 'stream') return { ...result, events: learning(result.events, stated) }
      learn(result.body[member])
      return result
    }
  }
  return Object.fromEntries(
    Object.entries(execute).map(([dialect, own]) => {
      const member = dialect === 'chat_completions' ? chatMember : 'model'
      return [dialect, own && watch(own, member)]
    }),
  )
}

/**
 * `gpt-5-mini-2025-08-07` is a version of `gpt-5-mini`; `gpt-4o-mini` is not a version of `gpt-4o`.
 */
function isVersionOf(replied: string, model: string): boolean {
  const rest = replied.toLowerCase().startsWith(model.toLowerCase())
    ? replied.slice(model.length)
    : undefined
  return rest === '' || (rest !== undefined && /^-\d{4}/.test(rest))
}
