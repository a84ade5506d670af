import type { BudgetScope } from './scopes.ts'
import type { Cadence } from './window.ts'

export type BudgetSource =
  | 'manual'
  | 'config_user_override'
  | 'config_user_default'
  | 'config_user_model_default'

export interface BudgetSettings {
  readonly cadence: Cadence
  readonly amountPicoUsd: bigint
  readonly hardLimit: boolean
  /** What becomes of calls that have no price. */
  readonly unpriced: 'allow' | 'refuse'
  /** Kept, not used. */
  readonly timezone: string
}

/** What is wrong with the name of a time zone; undefined: nothing. */
export function timezoneFault(name: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return undefined
  } catch {
    return 'must be the name of a time zone, such as UTC or Europe/Berlin'
  }
}

/**
 * What is decided for one scope. An inactive manual one is a tombstone: an administrator wants no
 * budget there.
 */
export type BudgetEntry = {
  readonly scope: BudgetScope
  readonly source: BudgetSource
} & (
  | { readonly active: true; readonly settings: BudgetSettings }
  | { readonly active: false; readonly settings: BudgetSettings | undefined }
)

/** An entry as it is kept. */
export type Budget = BudgetEntry & { readonly budgetId: string; readonly scopeKey: string }

/** What of a budget is left, in percent, when its alert is raised. */
export const ALERT_PERCENT = 20n

/** What a window has seen. */
export interface Used {
  readonly spent: bigint
  readonly rejected: bigint
}

/** What a budget has lost: charges that a hard limit rejected have used it up as well. */
export function used({ hardLimit }: Pick<BudgetSettings, 'hardLimit'>, window: Used): bigint {
  return window.spent + (hardLimit ? window.rejected : 0n)
}

/** What can still be spent in a window; negative when more was spent. */
export function remaining(settings: BudgetSettings, window: Used): bigint {
  return settings.amountPicoUsd - used(settings, window)
}

/** Whether little enough is left for an alert. */
export function isLow(settings: BudgetSettings, window: Used): boolean {
  return 100n * remaining(settings, window) <= ALERT_PERCENT * settings.amountPicoUsd
}

/** Whether calls are refused. */
export function isExhausted(settings: BudgetSettings, window: Used): boolean {
  return settings.hardLimit && remaining(settings, window) <= 0n
}
