import type { ClaudeCloud } from './betas.ts'

/** How one upstream of the native messages API differs from the others. */
export interface MessagesDialect {
  /** Key of what belongs to the provider alone: `provider_metadata.<type>`. */
  readonly providerType: 'anthropic' | 'cloud_a_ml' | 'cloud_b_ml'
  /** Whose betas it takes. */
  readonly cloud: ClaudeCloud
  /** `anthropic_version` in the body; undefined where a header carries it. */
  readonly version: string | undefined
  /** `model` stands in the body, not in the path. */
  readonly sendsModel: boolean
  readonly sendsStream: 'always' | 'when_streaming' | 'never'
  /** Betas travel as `anthropic_beta` in the body or in the header `anthropic-beta`. */
  readonly betas: 'body' | 'header'
  /** What is sent when the caller sets no limit; undefined: the call is refused. */
  readonly defaultMaxTokens: number | undefined
  /** Base64 images and documents; otherwise only text, tool calls and their results. */
  readonly media: boolean
  /**
   * Refuses what has no mapping, and makes tool call ids fit the wire. Otherwise all of it passes
   * and the upstream judges.
   */
  readonly strict: boolean
  /** Answers by a JSON schema; otherwise calls for them are refused. */
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

/** The API of the vendor; the version is the header `anthropic-version`. */
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

/** Services that speak the API of the vendor without being it. */
export const foreignMessages: MessagesDialect = { ...vendorMessages, cloud: 'foreign' }
