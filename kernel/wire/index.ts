/** Wire formats and texts, without I/O; exported as `model-gateway/wire`. */
export type { WrittenNumber } from '../plugin/json.ts'
export { findKeys, keyForms, maskCredentials } from '../plugin/key-forms.ts'
export { type StreamEvent, streamEvent } from '../plugin/stream.ts'
export type { Usage, UsagePart } from '../plugin/usage.ts'
export { argumentsOf, said, textOf } from './chat-message.ts'
export { leaveOut, type ParamPolicy, readParams } from './chat-params.ts'
export { createChatStream } from './chat-stream.ts'
export { chatEvents, collectChat } from './collect-chat.ts'
export { credentialForms, maskForms } from './credential-forms.ts'
export {
  callError,
  createDialectStream,
  isHeartbeat,
  plainError,
  readObject,
  type StreamRules,
  type StreamState,
} from './dialect-stream.ts'
export { chatDialect, responsesDialect } from './dialects.ts'
export { editMembers } from './edit-members.ts'
export { type ErrorWords, readErrorWords } from './error-words.ts'
export { mayBeRounded, parseExact } from './exact-json.ts'
export { failureOf, readInBandError, strayWords } from './in-band-error.ts'
export { invalid } from './invalid.ts'
export { isPresent, saysNothing } from './is-present.ts'
export { DEEPEST_JSON, isTooDeep, nestsTooDeep } from './json-depth.ts'
export { plainJson } from './json-escapes.ts'
export { keyInTwoCases, repeatedMember, repeatsKey } from './json-keys.ts'
export { setMembers } from './json-splice.ts'
export { skipSpace, visitJson } from './json-text.ts'
export { foldKey, knownInOtherCase } from './key-case.ts'
export { LiveSet } from './live-set.ts'
export { OWN_THINKING, UNSIGNED, withoutClientOnly } from './messages-own.ts'
export { chatChunkText } from './model-text.ts'
export { readBytes } from './read-bytes.ts'
export { readChatReply, readEmbeddingsReply } from './reply.ts'
export {
  readChatRequest,
  readCommon,
  readEmbeddingsRequest,
  readResponsesRequest,
} from './request.ts'
export { responseChanges } from './responses-exact.ts'
export { decodeSse, encodeSse, KEEP_ALIVE } from './sse.ts'
export { createBoundary, createSseBlocks, type SseBlock, withData } from './sse-blocks.ts'
export { didYouMean } from './suggest.ts'
export { parseObject, toolInput } from './tool-input.ts'
export { callersTraceparent, checkedTraceparent, parseTraceparent } from './traceparent.ts'
export { createUsageTap, messagesTier, readChatUsage, readMessagesUsage } from './usage.ts'
export { toolsUsed, USUAL_TIERS } from './usage-extras.ts'
