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
  /** Kept, not used. */
  readonly timezone: string
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
