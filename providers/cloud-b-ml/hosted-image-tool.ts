import { isJsonObject, type JsonValue } from 'model-gateway/plugin'
import { invalidRequest } from '../_shared/invalid-request.ts'
import type { OutboundBody } from '../_shared/outbound-body.ts'

const TOOL = 'image_generation'

/**
 * The service does not host the image tool. A body that only offers it is sent without it; a body
 * that requires it is refused. Throws GatewayError `invalid_request`.
 */
export function removeHostedImageTool(body: OutboundBody): void {
  const tools = body.get('tools')
  const choice = body.get('tool_choice')
  const list = Array.isArray(tools) ? tools : []
  const allowed =
    isJsonObject(choice) && choice.type === 'allowed_tools' && Array.isArray(choice.tools)
      ? choice.tools
      : []
  refuseRequired(list, choice, allowed)

  if (isJsonObject(choice) && allowed.some(isImageTool)) {
    const kept = allowed.filter((tool) => !isImageTool(tool))
    if (kept.length === 0) body.remove('tool_choice')
    else body.set('tool_choice', { ...choice, tools: kept })
  }
  if (list.some(isImageTool)) {
    const kept = list.filter((tool) => !isImageTool(tool))
    if (kept.length > 0) {
      body.set('tools', kept)
    } else {
      body.remove('tools')
      body.remove('tool_choice')
    }
  }
}

function refuseRequired(
  tools: readonly JsonValue[],
  choice: JsonValue | undefined,
  allowed: readonly JsonValue[],
): void {
  const onlyImages = (list: readonly JsonValue[]) => list.length > 0 && list.every(isImageTool)
  const chosen =
    choice === TOOL ||
    (choice !== undefined && isImageTool(choice)) ||
    (choice === 'required' && onlyImages(tools)) ||
    (isJsonObject(choice) && choice.mode === 'required' && onlyImages(allowed))
  if (chosen) {
    throw invalidRequest(`tool_choice requires ${TOOL}, which this route does not host`)
  }
  if (tools.some((tool) => isImageTool(tool) && (tool.action ?? 'auto') !== 'auto')) {
    throw invalidRequest(`tools: ${TOOL} with an action is not hosted by this route`)
  }
}

function isImageTool(tool: JsonValue): tool is { type: typeof TOOL; action?: JsonValue } {
  return isJsonObject(tool) && tool.type === TOOL
}
