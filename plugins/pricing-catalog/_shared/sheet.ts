/** Units sold by the token; prices are USD per million. */
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

/** Units sold by the piece, such as a call or a use of a tool; prices are USD per thousand. */
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

/** Decimal strings by unit. */
export type Prices = Partial<Record<Unit, string>>

/**
 * Prices for the whole prompt if it has more tokens than this; other prices stay as for shorter
 * prompts.
 */
export interface LongPrompt {
  readonly above: number
  readonly prices: Prices
}

/** Prices of prompts of every length. */
export interface Sheet extends Prices {
  /** By length, shortest first. */
  readonly long?: readonly LongPrompt[]
}

/** Hours (UTC) in which calls without a tier belong to a tier. */
export interface Hours {
  readonly tier: string
  /** `01:00-04:00`: from inclusive to exclusive, over midnight if it ends before it begins. */
  readonly utc: readonly string[]
  /** 1 is Monday; default: every day. */
  readonly weekdays?: readonly number[]
  /** Days on which the hours do not apply. */
  readonly except?: readonly string[]
}

/** Prices of one model for some time. */
export interface SnapshotRow extends Sheet {
  /**
   * Prices of other service tiers, by their name in replies; a missing unit has no price in that
   * tier.
   */
  readonly tiers?: Readonly<Record<string, Sheet>>
  readonly hours?: readonly Hours[]
  /** First day, UTC; absent: no start. */
  from?: string | undefined
  /** First day, UTC, on which the prices no longer apply; absent: no end. */
  until?: string | undefined
  /** The lists that have these prices. */
  readonly by?: readonly string[]
}

/** Dated rows by model. A string refers to the model whose rows apply. */
export type SnapshotModels = Readonly<Record<string, readonly SnapshotRow[] | string>>

/** A price list as stored in a file. */
export interface SnapshotFile {
  /** The day as of which its sources were the newest. */
  readonly date: string
  /** Version of each source. */
  readonly sources: Readonly<Record<string, string>>
  readonly providers: Readonly<Record<string, SnapshotModels>>
}

/** The rows of a model, by any of its names; empty if it is not in the list. */
export function rowsIn(models: SnapshotModels, model: string): readonly SnapshotRow[] {
  const rows = Object.hasOwn(models, model) ? models[model] : undefined
  return typeof rows === 'string' ? rowsIn(models, rows) : (rows ?? [])
}
