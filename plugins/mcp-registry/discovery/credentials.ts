import { credentialForms, maskForms } from 'model-gateway/wire'
import { type DiscoveredTool, keptTexts } from './tool.ts'

/** Minimum length of a secret to look for, because shorter texts may match by chance. */
const SHORTEST = 8

/** Whether the tools contain the credentials of these headers. */
export function repeatsCredentials(
  tools: readonly DiscoveredTool[],
  headers: Readonly<Record<string, string>>,
): boolean {
  const forms = credentialForms(Object.values(headers)).filter(({ length }) => length >= SHORTEST)
  if (forms.length === 0) return false
  return tools.some((tool) => keptTexts(tool).some((text) => maskForms(text, forms) !== text))
}
