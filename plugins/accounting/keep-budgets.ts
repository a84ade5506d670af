import type { Directory } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import type { BudgetStore } from './budget-store.ts'
import { type ConfiguredBudgets, reconcileBudgets } from './reconcile.ts'

/** Keeps the budgets that config owns as it says, for the owners that there are. */
export function createBudgetKeeper(options: {
  readonly store: BudgetStore
  readonly directory: () => Promise<Directory>
  readonly log: Logger
  /** Called when budgets may have changed. */
  readonly changed: () => Promise<void>
}) {
  const { store, directory, log, changed } = options
  let inForce: ConfiguredBudgets | undefined
  let owners: ReadonlySet<string> = new Set()
  let running: Promise<void> = Promise.resolve()

  async function reconcile(configured: ConfiguredBudgets, known: Directory): Promise<void> {
    await store.changeAll((existing) => {
      const { entries, warnings } = reconcileBudgets(configured, known, existing)
      for (const { path, message } of warnings) log.warn({ path: path.join('.') }, message)
      return entries
    })
    owners = idsOf(known)
    await changed()
  }

  return {
    /** Writes what a config says. */
    prepare: async (configured: ConfiguredBudgets) => reconcile(configured, await directory()),
    accept(configured: ConfiguredBudgets): void {
      inForce = configured
    },
    /** Gives owners who are new the budgets that the config has for them. */
    ownersChanged(): Promise<void> {
      running = running.then(async () => {
        if (inForce === undefined) return
        try {
          const known = await directory()
          if ([...idsOf(known)].some((id) => !owners.has(id))) await reconcile(inForce, known)
        } catch (err) {
          log.error({ err }, 'new owners do not have the budgets of the config yet')
        }
      })
      return running
    },
    /** Resolves when no new owner is being given budgets. */
    drained: () => running,
  }
}

function idsOf({ users, serviceAccounts }: Directory): Set<string> {
  return new Set([...users, ...serviceAccounts].map(({ id }) => id))
}
