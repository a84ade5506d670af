import type { JsonObject, JsonValue } from '../plugin/json.ts'

/**
 * What a request of the messages API says beyond the chat call that it was converted to. Only a
 * route that speaks that API itself understands it. It holds none of the conversation's text, which
 * stands in the chat call alone.
 */
export interface NativeMessages {
  /**
   * Members of the request as they stand that the chat call has no place for: `thinking`,
   * `output_config`, `metadata`, `service_tier`, `container`, `context_management`, `mcp_servers`,
   * any that the gateway does not know, and as a list `anthropic_beta`, its header included.
   */
  readonly fields: JsonObject
  /** Tools that the upstream runs itself, as declared; they are not among the call's tools. */
  readonly serverTools: readonly JsonObject[]
  readonly disableParallelToolUse: boolean
  /** Ids of the tool calls whose results report an error. */
  readonly failedToolCalls: ReadonlySet<string>
  /**
   * `cache_control` by its place in the chat call: `tools.0`, `messages.2` where the content is a
   * string, else `messages.2.content.1`, and `messages.2.tool_calls.0`. A system text with one ends
   * its message, so several system messages can follow each other.
   */
  readonly cacheControl: ReadonlyMap<string, JsonValue>
  /**
   * Members of tools, documents and images that the chat call has no place for, by the same places:
   * `defer_loading` and others of a tool, `citations` of a document, `transformations` of an image.
   */
  readonly members: ReadonlyMap<string, JsonObject>
}
