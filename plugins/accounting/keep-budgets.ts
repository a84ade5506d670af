import type { Directory } from 'model-gateway/identity'
import { formatPath } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import type { BudgetStore } from './budget-store.ts'
import { type ConfiguredBudgets, reconcileBudgets } from './reconcile.ts'
import { ownerOf, scopeKey } from './scopes.ts'

/** Keeps the config's budgets of all existing owners as the config describes them. */
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
  /** Budgets of some new owners are missing, because writing them failed. */
  let behind = false

  /** `onlyTo`: only adds missing budgets of these owners. */
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

  /** Creates the config's budgets for new owners. */
  function ownersChanged(): Promise<void> {
    running = running.then(async () => {
      if (inForce === undefined) return
      try {
        const known = await directory()
        const before = owners
        const isNew = (id: string) => !before.has(id)
        // A replica with a newer config may have created their budgets; leave those unchanged.
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
    /** Writes the budgets of a config. */
    prepare: async (configured: ConfiguredBudgets) => reconcile(configured, await directory()),
    accept(configured: ConfiguredBudgets): void {
      inForce = configured
    },
    ownersChanged,
    /** Retries after a failure. */
    catchUp: async () => {
      if (behind) await ownersChanged()
    },
    /** Resolves when no budgets of new owners are being written. */
    drained: () => running,
  }
}

function idsOf({ users, serviceAccounts }: Directory): Set<string> {
  return new Set([...users, ...serviceAccounts].map(({ id }) => id))
}
