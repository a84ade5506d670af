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
  /** Whether calls without a price are allowed or refused. */
  readonly unpriced: 'allow' | 'refuse'
  /** Stored but not used. */
  readonly timezone: string
}

/** The error for an unknown time zone name; undefined if it is valid. */
export function timezoneFault(name: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return undefined
  } catch {
    return 'must be the name of a time zone, such as UTC or Europe/Berlin'
  }
}

/**
 * The budget of one scope. An inactive manual one is a tombstone: an administrator deactivated it.
 */
export type BudgetEntry = {
  readonly scope: BudgetScope
  readonly source: BudgetSource
} & (
  | { readonly active: true; readonly settings: BudgetSettings }
  | { readonly active: false; readonly settings: BudgetSettings | undefined }
)

/** An entry as stored. */
export type Budget = BudgetEntry & { readonly budgetId: string; readonly scopeKey: string }

/** Percentage of the budget at or below which its alert is raised. */
export const ALERT_PERCENT = 20n

/** The spend of a window. */
export interface Used {
  readonly spent: bigint
  readonly rejected: bigint
}

/** The used amount: spend, and with a hard limit also rejected charges. */
export function used({ hardLimit }: Pick<BudgetSettings, 'hardLimit'>, window: Used): bigint {
  return window.spent + (hardLimit ? window.rejected : 0n)
}

/** The remaining amount of a window; negative if overspent. */
export function remaining(settings: BudgetSettings, window: Used): bigint {
  return settings.amountPicoUsd - used(settings, window)
}

/** Whether the remaining amount is low enough for an alert. */
export function isLow(settings: BudgetSettings, window: Used): boolean {
  return 100n * remaining(settings, window) <= ALERT_PERCENT * settings.amountPicoUsd
}

/** Whether the hard limit is used up, so that calls are refused. */
export function isExhausted(settings: BudgetSettings, window: Used): boolean {
  return settings.hardLimit && remaining(settings, window) <= 0n
}
