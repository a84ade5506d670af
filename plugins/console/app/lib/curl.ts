/** The placeholder for the API key in a command. */
const KEY_PLACEHOLDER = '$GATEWAY_API_KEY'

const paths: Readonly<Record<string, string>> = {
  chat_completions: '/v1/chat/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  messages: '/v1/messages',
  batches: '/v1/batches',
  completions: '/v1/completions',
  moderations: '/v1/moderations',
  rerank: '/v1/rerank',
  images: '/v1/images/generations',
}

/** The path of an API. */
export function pathOf(surface: string): string {
  return paths[surface] ?? paths.chat_completions ?? ''
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A `curl` command for the same call, with a placeholder for the key. */
export function curlOf(
  origin: string,
  surface: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): string {
  const lines = [
    `curl -N ${quote(`${origin}${pathOf(surface)}`)}`,
    `-H "authorization: Bearer ${KEY_PLACEHOLDER}"`,
    `-H 'content-type: application/json'`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    `--data-raw ${quote(JSON.stringify(body))}`,
  ]
  return lines.join(' \\\n  ')
}
