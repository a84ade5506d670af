import type { ClaudeCloud } from './betas.ts'

/** How one upstream of the messages API differs from others. */
export interface MessagesDialect {
  /** Key for provider-specific data: `provider_metadata.<type>`. */
  readonly providerType: 'anthropic' | 'cloud_a_ml' | 'cloud_b_ml'
  /** The vendor or cloud whose betas apply. */
  readonly cloud: ClaudeCloud
  /** `anthropic_version` in the body; undefined if it is a header. */
  readonly version: string | undefined
  /** `model` is in the body, not in the path. */
  readonly sendsModel: boolean
  readonly sendsStream: 'always' | 'when_streaming' | 'never'
  /** Whether betas are sent as `anthropic_beta` in the body or as the header `anthropic-beta`. */
  readonly betas: 'body' | 'header'
  /** `max_tokens` when the caller sets none; undefined: the call is refused. */
  readonly defaultMaxTokens: number | undefined
  /** Accepts base64 images and documents; otherwise only text, tool calls and their results. */
  readonly media: boolean
  /**
   * Refuses unsupported members, and makes tool call ids valid. Otherwise everything is passed on
   * and the upstream validates.
   */
  readonly strict: boolean
  /** Supports JSON schema answers; otherwise such calls are refused. */
  readonly schemas: boolean
}

/** `anthropic/` models of cloud_a_ml: rawPredict and streamRawPredict. */
export const rawPredictMessages: MessagesDialect = {
  providerType: 'cloud_a_ml',
  cloud: 'vertex',
  version: 'vertex-2023-10-16',
  sendsModel: false,
  sendsStream: 'always',
  betas: 'body',
  defaultMaxTokens: 4096,
  media: false,
  strict: false,
  schemas: false,
}

/** `runtime_native_invoke` of cloud_b_ml: InvokeModel. */
export const invokeMessages: MessagesDialect = {
  providerType: 'cloud_b_ml',
  cloud: 'bedrock',
  version: 'bedrock-2023-05-31',
  sendsModel: false,
  sendsStream: 'never',
  betas: 'body',
  defaultMaxTokens: undefined,
  media: true,
  strict: true,
  schemas: false,
}

/** `edge_native_messages` of cloud_b_ml; the version is the header `anthropic-version`. */
export const edgeMessages: MessagesDialect = {
  ...invokeMessages,
  cloud: 'bedrock_edge',
  version: undefined,
  sendsModel: true,
  sendsStream: 'when_streaming',
  betas: 'header',
}

/** Anthropic's API; the version is the header `anthropic-version`. */
export const vendorMessages: MessagesDialect = {
  providerType: 'anthropic',
  cloud: 'vendor',
  version: undefined,
  sendsModel: true,
  sendsStream: 'when_streaming',
  betas: 'header',
  defaultMaxTokens: 4096,
  media: true,
  strict: false,
  schemas: true,
}

/** Other services with Anthropic's API. */
export const foreignMessages: MessagesDialect = { ...vendorMessages, cloud: 'foreign' }
