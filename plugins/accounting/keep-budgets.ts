import type { Directory } from 'model-gateway/identity'
import { formatPath } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import type { BudgetStore } from './budget-store.ts'
import { type ConfiguredBudgets, reconcileBudgets } from './reconcile.ts'
import { ownerOf, scopeKey } from './scopes.ts'

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
  /** There are owners who could not be given budgets. */
  let behind = false

  /** `onlyTo`: gives these owners the budgets that nobody has decided on, and does nothing else. */
  async function reconcile(
    configured: ConfiguredBudgets,
    known: Directory,
    onlyTo?: (ownerId: string) => boolean,
  ): Promise<void> {
    await store.changeAll((existing) => {
      const { entries, warnings } = reconcileBudgets(configured, known, existing)
      for (const { path, message } of warnings) log.warn({ path: formatPath(path) }, message)
      if (onlyTo === undefined) return entries
      const decided = new Set(existing.map((budget) => budget.scopeKey))
      return entries.filter(
        ({ scope }) => onlyTo(ownerOf(scope).id) && !decided.has(scopeKey(scope)),
      )
    })
    owners = idsOf(known)
    await changed()
  }

  /** Gives owners who are new the budgets that the config has for them. */
  function ownersChanged(): Promise<void> {
    running = running.then(async () => {
      if (inForce === undefined) return
      try {
        const known = await directory()
        const before = owners
        const isNew = (id: string) => !before.has(id)
        // A replica with a later config may have given budgets to them, and has to the others.
        if ([...idsOf(known)].some(isNew)) await reconcile(inForce, known, isNew)
        behind = false
      } catch (err) {
        behind = true
        log.error({ err }, 'failed to create the budgets of the config for new owners; will retry')
      }
    })
    return running
  }

  return {
    /** Writes what a config says. */
    prepare: async (configured: ConfiguredBudgets) => reconcile(configured, await directory()),
    accept(configured: ConfiguredBudgets): void {
      inForce = configured
    },
    ownersChanged,
    /** Tries again what failed. */
    catchUp: async () => {
      if (behind) await ownersChanged()
    },
    /** Resolves when no new owner is being given budgets. */
    drained: () => running,
  }
}

function idsOf({ users, serviceAccounts }: Directory): Set<string> {
  return new Set([...users, ...serviceAccounts].map(({ id }) => id))
}
