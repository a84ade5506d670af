import type { JsonObject } from 'model-gateway/plugin'
import type { Conversion, ConvertedCall } from 'model-gateway/surface'
import { leaveOut, type ParamPolicy } from 'model-gateway/wire'
import { type ChatTraits, convertOnce } from '../../_shared/convert-once.ts'
import type { GoogleRequest } from '../_shared/request.ts'
import { spelledCamel } from '../_shared/shape.ts'
import { chatConfig } from './config.ts'
import { chatMessages } from './contents.ts'
import { googleReply } from './reply.ts'
import { createGoogleStream } from './stream.ts'
import { chatTools } from './tools.ts'

/** The route, and the report of members that it does not support. */
export interface Target extends ChatTraits, ParamPolicy {}

/** Members that change the answer. */
const CHANGES_THE_ANSWER: ReadonlySet<string> = new Set([
  ...['cachedContent', 'tools'],
  ...['responseModalities', 'responseMimeType', 'speechConfig', 'imageConfig'].map(
    (name) => `generationConfig.${name}`,
  ),
])

/** Members that are read by themselves. */
const READ: ReadonlySet<string> = new Set([
  ...[
    'model',
    'stream',
    'contents',
    'systemInstruction',
    'generationConfig',
    'tools',
    'toolConfig',
  ],
])

/** Calls of generateContent on routes that execute chat completions. */
export const googleToChat: Conversion<GoogleRequest> = {
  from: 'google',
  to: 'chat_completions',
  request: ({ value }) => convertOnce((route) => chatCall(value, route)),
  reply: googleReply,
  stream: createGoogleStream,
}

/**
 * The chat call for a route. Members without a counterpart are converted, dropped, or refused with
 * GatewayError `invalid_request`.
 */
function chatCall(request: JsonObject, route: ChatTraits): ConvertedCall {
  const dropped: string[] = []
  const target: Target = {
    ...route,
    refused: CHANGES_THE_ANSWER,
    dropped: (name) => void dropped.push(name),
  }
  const { model, stream } = request
  const tools = chatTools(request, target)
  const body = {
    ...(model !== undefined && { model }),
    ...(stream === true && { stream }),
    messages: chatMessages(request, target),
    ...tools,
    ...chatConfig(request, target, tools.tools !== undefined),
  }
  for (const [name, value] of Object.entries(request)) {
    const known = spelledCamel(name)
    const isEmpty = value === null || (typeof value === 'object' && Object.keys(value).length === 0)
    if (!READ.has(known) && !isEmpty) leaveOut(known, target)
  }
  return { body, dropped }
}
