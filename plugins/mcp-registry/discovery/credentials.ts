import { credentialForms, maskForms } from 'model-gateway/wire'
import { type DiscoveredTool, keptTexts } from './tool.ts'

/** A server is refused for it: what is shorter may stand in its texts by chance. */
const SHORTEST = 8

/** Whether anything that is kept of the tools repeats what the headers authenticate with. */
export function repeatsCredentials(
  tools: readonly DiscoveredTool[],
  headers: Readonly<Record<string, string>>,
): boolean {
  const forms = credentialForms(Object.values(headers)).filter(({ length }) => length >= SHORTEST)
  if (forms.length === 0) return false
  return tools.some((tool) => keptTexts(tool).some((text) => maskForms(text, forms) !== text))
}
