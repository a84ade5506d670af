import type { Directory } from 'model-gateway/identity'
import type { Clock } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { storable } from '../_shared/safe-text.ts'
import type { AlertStore, Claimed } from './alert-store.ts'
import { alertMail } from './mail.ts'
import { recipientsOf } from './recipients.ts'
import type { LowBudget } from './spend.ts'
import type { Transport } from './transport.ts'
import { utcDay } from './window.ts'

/** Longer than any attempt takes. */
const LEASE_MS = 300_000
/** Pauses after failed attempts. When none is left, the delivery has failed. */
export const RETRY_MS: readonly number[] = [30_000, 60_000, 120_000, 240_000, 480_000]
const MAX_ERROR = 500

export interface MailSettings {
  readonly transport: Transport
  readonly pollIntervalMs: number
  readonly batchSize: number
}

export interface AlertOptions {
  readonly store: AlertStore
  readonly directory: () => Promise<Directory>
  /** Undefined before a config is loaded. */
  readonly settings: () => MailSettings | undefined
  readonly clock: Clock
  readonly log: Logger
}

/** Raises each alert once, and sends its emails until they are accepted or have failed. */
export function createAlerts(options: AlertOptions) {
  const { store, directory, settings, clock, log } = options
  /** Scopes whose alert may be due. */
  const noted = new Map<string, LowBudget>()
  /** By scope: the window for which an alert exists. */
  const raised = new Map<string, string>()
  let polledAt = Number.NEGATIVE_INFINITY
  let closing = false

  async function raise(): Promise<void> {
    // Before a config is loaded, the directory may be missing.
    if (noted.size === 0 || settings() === undefined) return
    const budgets = [...noted.values()]
    noted.clear()
    try {
      const scopeKeys = budgets.map(({ scopeKey }) => scopeKey)
      // Outside the transaction, which holds a connection, because this takes another one.
      const known = await directory()
      const due = await store.raise(scopeKeys, utcDay(clock.now()), (scope) =>
        recipientsOf(scope, known),
      )
      const there = new Set(due)
      for (const budget of budgets) {
        if (there.has(budget.scopeKey)) raised.set(budget.scopeKey, windowName(budget))
      }
    } catch (error) {
      for (const budget of budgets) if (!noted.has(budget.scopeKey)) note([budget])
      throw error
    }
  }

  function note(budgets: readonly LowBudget[]): void {
    for (const budget of budgets) {
      if (raised.get(budget.scopeKey) !== windowName(budget)) noted.set(budget.scopeKey, budget)
    }
  }

  async function deliver({ transport, batchSize }: MailSettings): Promise<void> {
    let known: Directory | undefined
    for (let n = 0; n < batchSize && !closing; n++) {
      const claimed = await store.claim(LEASE_MS)
      if (claimed === undefined) return
      known ??= await directory()
      const { alert, deliveryId } = claimed
      try {
        await transport.send(alertMail(alert, known, claimed))
      } catch (error) {
        await giveBack(claimed, error)
        continue
      }
      await persist(() => store.sent(deliveryId))
    }
  }

  async function giveBack({ deliveryId, attempts, recipient }: Claimed, error: unknown) {
    const message = error instanceof Error ? error.message : String(error)
    const reason = storable(message.slice(0, MAX_ERROR))
    const retryMs = RETRY_MS[attempts]
    log.warn({ to: recipient, reason, retry_ms: retryMs }, 'a budget alert could not be mailed')
    await store.failed(deliveryId, reason, retryMs)
  }

  /** Retries to record a sent email, because an unrecorded one would be sent again. */
  async function persist(write: () => Promise<void>): Promise<void> {
    const deadline = performance.now() + LEASE_MS / 2
    for (;;) {
      try {
        return await write()
      } catch (error) {
        if (closing || performance.now() > deadline) throw error
        await Bun.sleep(1000)
      }
    }
  }

  return {
    note,
    raise,
    /** Sends due emails, if the poll interval has passed. */
    async poll(): Promise<void> {
      const current = settings()
      const now = performance.now()
      if (current === undefined || now - polledAt < current.pollIntervalMs) return
      polledAt = now
      await deliver(current)
    },
    close(): void {
      closing = true
    },
  }
}

function windowName({ settings, window }: LowBudget): string {
  return `${settings.cadence} ${window.start}`
}
