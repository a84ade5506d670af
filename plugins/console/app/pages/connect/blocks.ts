import { curlOf } from '@/lib/curl.ts'
import clients from '../../../../../docs/clients.md' with { type: 'text' }

/** The settings of a client. */
export interface Settings {
  /** The gateway's base URL, without a path. */
  readonly url: string
  readonly key: string
  readonly model: string
}

/** The set-up of one client: a heading of docs/clients.md, its block and its notes. */
export interface Client {
  readonly key: string
  readonly label: string
  block(settings: Settings): string
}

/**
 * The command that starts each agent. It replaces the last command of the agent's block in
 * docs/clients.md, which is for tests.
 */
const starts: Readonly<Record<string, string>> = {
  'Claude Code': 'claude --model "$GATEWAY_MODEL"',
  Codex: 'codex --model "$GATEWAY_MODEL"',
  opencode: 'opencode --model "gateway/$GATEWAY_MODEL"',
  'Gemini CLI': 'gemini --model "$GATEWAY_MODEL"',
  'Qwen Code': 'qwen --auth-type openai --model "$GATEWAY_MODEL"',
  aider: 'aider --model "openai/$GATEWAY_MODEL" --weak-model "openai/$GATEWAY_MODEL"',
}

const curl: Client = {
  key: 'curl',
  label: 'curl',
  block({ url, key, model }) {
    const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] }
    return `export GATEWAY_API_KEY=${quote(key)}\n${curlOf(url, 'chat_completions', body)}`
  },
}

/** All clients with a block on the page. */
export const allClients: readonly Client[] = [curl, ...clientsOf(clients)]

/** Parses the clients of a Markdown page: each level-3 section with its first code block. */
function clientsOf(page: string): readonly Client[] {
  const sections = page.split(/^### /m).slice(1)
  return sections.flatMap((section) => {
    const [label = ''] = section.split('\n', 1)
    const [, language, text = ''] = /^```(\w+)\n(.*?)^```$/ms.exec(section) ?? []
    if (language === undefined) return []
    const block = (settings: Settings) =>
      language === 'sh' ? shell(text, starts[label], settings) : script(text, settings)
    return [{ key: label.toLowerCase().replaceAll(' ', '-'), label, block }]
  })
}

const valuesOf = ({ url, key, model }: Settings): Readonly<Record<string, string>> => ({
  GATEWAY_URL: url,
  GATEWAY_API_KEY: key,
  GATEWAY_MODEL: model,
})

/** The block with its variables set and the client's start command at the end. */
function shell(text: string, start: string | undefined, settings: Settings): string {
  const program = start?.split(' ', 1)[0]
  const at = program === undefined ? -1 : text.search(new RegExp(`^${program} `, 'm'))
  const whole = at === -1 ? text : `${text.slice(0, at)}${start}\n`
  const used = Object.entries(valuesOf(settings)).filter(([name]) => whole.includes(name))
  const exports = used.map(([name, value]) => `export ${name}=${quote(value)}\n`)
  return exports.join('') + whole
}

function script(text: string, settings: Settings): string {
  const values = valuesOf(settings)
  const literal = (name: string, rest = '') =>
    `'${(values[name] ?? '').replaceAll("'", "\\'")}${rest}'`
  return text
    .replaceAll(/`\$\{process\.env\.(\w+)\}([^`]*)`/g, (_, name, rest) => literal(name, rest))
    .replaceAll(/process\.env\.(\w+)/g, (_, name) => literal(name))
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
