/** Faults of providers. */
import { GatewayError, isJsonObject, Secret } from 'model-gateway/plugin'
import {
  type BoundRoute,
  type Execute,
  type ProviderCall,
  type ProviderFactory,
  type ProviderResult,
  providerFactories,
  type StreamResult,
} from 'model-gateway/provider'
import providerPlugin from '../../../plugins/plugin-kit/templates/provider/src/index.ts'
import { html, json, type Pace, type Reply, sse } from '../../harness/upstream.ts'
import { testGoldenExchanges } from '../golden.ts'
import { testProvider } from '../provider.ts'
import { type Planted, spoilt } from './planted.ts'

/** A recording holds what the template's provider sends; this one sends something else. */
const golden = (change: 'nothing' | 'its address') => () =>
  testGoldenExchanges({
    plugin: providerPlugin,
    type: 'sample_name',
    config: (url) => ({
      base_url: change === 'nothing' ? url : `${url}/v2`,
      api_key: new Secret('canary-4711'),
    }),
    secrets: ['canary-4711'],
    folder: new URL('../../../plugins/plugin-kit/templates/provider/golden', import.meta.url)
      .pathname,
  })

/** Runs the kit over the template's provider, changed. */
const provider = (change: (sound: ProviderFactory) => ProviderFactory['create']) => () =>
  testProvider({
    plugin: spoilt(providerPlugin, providerFactories, (sound) => ({
      ...sound,
      create: change(sound),
    })),
    type: 'sample_name',
    config: (url) => ({ base_url: url, api_key: new Secret('canary-4711') }),
    secrets: ['canary-4711'],
    upstream: { reply: vendor, malformed: [html] },
  })

const counts = { in: 24, out: 17 }

function vendor(pace: Pace): Reply {
  const lines = [{ text: 'Rivers' }, { text: ' run' }, { finish: 'end', counts }]
  return (x) =>
    isJsonObject(x.call.body) && x.call.body.stream === true
      ? sse(
          lines.map((line) => `${JSON.stringify(line)}\n`),
          pace,
        )(x)
      : json({ text: 'Rivers run', finish: 'end', counts })(x)
}

/** The same chat call, its answer changed. */
const answering =
  (change: (result: ProviderResult) => ProviderResult) =>
  ({ create }: ProviderFactory): ProviderFactory['create'] =>
  async (config, settings) => {
    const sound = await create(config, settings)
    return {
      bind(route) {
        const bound = sound.bind(route)
        const chat = bound.execute.chat_completions as Execute
        const changed: Execute = async (call) => change(await chat(call))
        return { ...bound, execute: { chat_completions: changed } }
      },
    }
  }

/** A route of a class, which keeps what it works with in a field of its own. */
class Route implements BoundRoute {
  readonly #own: BoundRoute
  constructor(own: BoundRoute) {
    this.#own = own
  }
  get supports() {
    return this.#own.supports
  }
  get pricing() {
    return this.#own.pricing
  }
  get execute() {
    return { chat_completions: (call: ProviderCall) => this.#answer(call) }
  }
  async #answer(call: ProviderCall) {
    return await (this.#own.execute.chat_completions as Execute)(call)
  }
}

/** The same chat call, with its key in what it says of errors. */
const repeating =
  (write: (key: string) => string) =>
  ({ create }: ProviderFactory): ProviderFactory['create'] =>
  async (config, settings) => {
    const sound = await create(config, settings)
    const told = (error: unknown) => {
      const key = (config as { readonly api_key: Secret }).api_key.reveal()
      return new GatewayError('upstream_transport', `${(error as Error).message}: ${write(key)}`)
    }
    async function* events(stream: StreamResult) {
      try {
        yield* stream.events
      } catch (error) {
        throw told(error)
      }
    }
    return {
      bind(route) {
        const bound = sound.bind(route)
        const chat = bound.execute.chat_completions as Execute
        const answer: Execute = async (call) => {
          const result = await chat(call)
          return result.kind === 'stream' ? { kind: 'stream', events: events(result) } : result
        }
        return { ...bound, execute: { chat_completions: answer } }
      },
    }
  }

const secret = 'no secret comes back in an error'
const readable = 'chat_completions: official clients can read what it makes'

export const plantedProviders: readonly Planted[] = [
  {
    fault: 'a provider that repeats its key when a stream breaks off',
    rule: secret,
    run: provider(repeating((key) => key)),
  },
  {
    fault: 'a provider that repeats its key in unicode escapes',
    rule: secret,
    run: provider(
      repeating((key) => key.replace(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)),
    ),
  },
  { fault: 'a provider that sends something else', rule: 'chat', run: golden('its address') },
  {
    fault: 'a provider that forgets the headers of the config',
    rule: 'it sends the headers and the fields that the config adds',
    run: provider(
      ({ create }) =>
        (config, settings) =>
          create(config, { ...settings, defaultHeaders: {} }),
    ),
  },
  {
    fault: 'a provider whose replies do not say why they end',
    rule: readable,
    run: provider(
      answering((result) => {
        if (result.kind === 'stream') return result
        const message = { role: 'assistant', content: 'Rivers run' }
        return { ...result, body: { ...result.body, choices: [{ index: 0, message }] } }
      }),
    ),
  },
]

/** The template itself, which breaks no rule, and written in another style. */
export const soundProviders: readonly (() => void)[] = [
  golden('nothing'),
  provider(({ create }) => create),
  provider(({ create }) => async (config, settings) => {
    const sound = await create(config, settings)
    return { bind: (route) => new Route(sound.bind(route)) }
  }),
]
