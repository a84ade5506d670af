/** What is sold by the token; prices are USD per million. */
export const tokenUnits = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'input_audio',
  'cached_audio',
  'output_audio',
  'input_image',
  'cached_image',
  'output_image',
  'input_video',
  'cached_video',
  'output_video',
] as const
export type TokenUnit = (typeof tokenUnits)[number]

/** What is sold by the piece, a call or a use of a tool; prices are USD per thousand. */
export const pieceUnits = [
  'request',
  'web_search',
  'web_fetch',
  'code_execution',
  'container',
  'file_search',
  'grounding',
  'server_side_tool',
  'source',
  'search_unit',
  'page',
  'character',
  'audio_second',
  'image',
] as const
export type PieceUnit = (typeof pieceUnits)[number]
export type Unit = TokenUnit | PieceUnit

/** Decimal strings by what they are the price of. */
export type Prices = Partial<Record<Unit, string>>

/** Prices for prompts of more than so many tokens, of the whole prompt; others stay as below that. */
export interface LongPrompt {
  readonly above: number
  readonly prices: Prices
}

/** Prices of prompts of every length. */
export interface Sheet extends Prices {
  /** By length, shortest first. */
  readonly long?: readonly LongPrompt[]
}

/** When calls that name no tier are of one, by UTC. */
export interface Hours {
  readonly tier: string
  /** `01:00-04:00`: from inclusive to exclusive, over midnight if it ends before it begins. */
  readonly utc: readonly string[]
  /** 1 is Monday; absent: every day. */
  readonly weekdays?: readonly number[]
  /** Days on which they do not hold. */
  readonly except?: readonly string[]
}

/** Prices of one model for some time. */
export interface SnapshotRow extends Sheet {
  /** Of other service tiers, by the name that replies give them; what is absent has no price there. */
  readonly tiers?: Readonly<Record<string, Sheet>>
  readonly hours?: readonly Hours[]
  /** First day, UTC; absent: since ever. */
  from?: string | undefined
  /** First day on which it no longer holds, UTC; absent: until further notice. */
  until?: string | undefined
  /** The lists that state it. */
  readonly by?: readonly string[]
}

/** Dated rows by model. A text instead of rows is the model whose rows they are. */
export type SnapshotModels = Readonly<Record<string, readonly SnapshotRow[] | string>>

/** A price list as it is kept in a file. */
export interface SnapshotFile {
  /** The day on which its sources were the newest. */
  readonly date: string
  /** Version of each source. */
  readonly sources: Readonly<Record<string, string>>
  readonly providers: Readonly<Record<string, SnapshotModels>>
}

/** Those of a model, by any of its names; none: it is not in the list. */
export function rowsIn(models: SnapshotModels, model: string): readonly SnapshotRow[] {
  const rows = Object.hasOwn(models, model) ? models[model] : undefined
  return typeof rows === 'string' ? rowsIn(models, rows) : (rows ?? [])
}
