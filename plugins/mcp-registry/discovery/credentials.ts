import type { DiscoveredTool } from './tool.ts'

/** What is shorter stands in texts by chance. */
const SHORTEST = 8

/** Whether anything that is kept of the tools repeats what the headers authenticate with. */
export function repeatsCredentials(
  tools: readonly DiscoveredTool[],
  headers: Readonly<Record<string, string>>,
): boolean {
  const credentials = Object.values(headers)
    .flatMap(credentialsOf)
    .filter(({ length }) => length >= SHORTEST)
  if (credentials.length === 0) return false
  // A text of JSON may itself hold JSON.
  const forms = [
    ...new Set(credentials.flatMap((text) => [text, escaped(text), escaped(escaped(text))])),
  ]
  return tools.some((tool) =>
    keptTexts(tool).some((text) => forms.some((form) => text.includes(form))),
  )
}

/** The value of a header, and what it holds behind a scheme such as `Bearer`. */
function credentialsOf(value: string): string[] {
  const whole = value.trim()
  const { 1: scheme = '', 2: bare } = /^(\S+)\s+(.+)$/s.exec(whole) ?? []
  if (bare === undefined) return [whole]
  if (scheme.toLowerCase() !== 'basic') return [whole, bare]
  const pair = Buffer.from(bare, 'base64').toString('utf8')
  return [whole, bare, pair.slice(pair.indexOf(':') + 1)]
}

/** As it stands between the quotes of a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function keptTexts(tool: DiscoveredTool): string[] {
  const { name, displayName, description, annotations, inputSchema } = tool
  return [name, displayName, description, annotations, inputSchema].filter(
    (text) => text !== undefined,
  )
}
