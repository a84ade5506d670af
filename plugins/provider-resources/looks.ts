import { type Clock, GatewayError, isJsonObject, type JsonObject } from 'model-gateway/plugin'
import type { Logger } from 'pino'
import { type Account, type Accounts, readJson, send } from './accounts.ts'
import { PENDING } from './batches.ts'
import type { Charge } from './charge.ts'
import type { StoredBatch, StoredResponse } from './rows.ts'
import type { Store } from './store.ts'

export interface LooksOptions {
  readonly store: Store
  readonly accounts: Accounts
  readonly charge: Charge
  readonly clock: Clock
  readonly log: Logger
  /** Aborts at shutdown; other replicas continue the charging. */
  readonly signal: AbortSignal
}

const BATCH_OVER: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])
const RESPONSE_OVER: ReadonlySet<unknown> = new Set([
  'completed',
  'failed',
  'incomplete',
  'cancelled',
])
/**
 * Pauses between checks of the same batch, and of the same response; each pause is 50 % longer than
 * the last.
 */
const BATCH_PAUSES = { first: 60_000, longest: 600_000 }
const RESPONSE_PAUSES = { first: 5_000, longest: 120_000 }

type Pauses = typeof BATCH_PAUSES

/**
 * Polls running batches and responses until they end, and then charges them. A caller's request
 * triggers an immediate check. A claim in the database ensures that one replica checks each of
 * them.
 */
export function createLooks({ store, accounts, charge, clock, log, signal }: LooksOptions) {
  const now = () => clock.now().getTime()
  const later = (looks: number, { first, longest }: Pauses) =>
    new Date(now() + Math.min(longest, first * 1.5 ** Math.max(0, looks - 1)))

  /** Records the status of a batch, and its output files. */
  async function noteBatch(
    batch: StoredBatch,
    object: JsonObject,
    account: Account,
    lookAt?: Date,
  ) {
    for (const member of ['output_file_id', 'error_file_id'] as const) {
      const id = object[member]
      if (typeof id !== 'string' || batch.object?.[member] === id) continue
      await noteOutput(batch, id, account)
    }
    await store.noteBatch(batch, object, lookAt)
  }

  /** Called when a caller reads a batch. If recording fails, the next check records it. */
  async function seenBatch(
    batch: StoredBatch,
    object: JsonObject,
    account: Account,
  ): Promise<void> {
    const isOver = BATCH_OVER.has(object.status) && !batch.settled
    try {
      await noteBatch(batch, object, account, isOver ? new Date(now()) : undefined)
      if (isOver) soon()
    } catch (err) {
      log.warn({ err, batch_id: batch.batchId }, 'failed to record the status of a batch')
    }
  }

  /** Called when a caller reads a response. */
  async function seenResponse(response: StoredResponse, body: JsonObject): Promise<void> {
    if (response.pending === undefined || !RESPONSE_OVER.has(body.status)) return
    await store.putOffResponse(response, new Date(now()))
    soon()
  }

  /** Assigns files that the provider created to the owner of the batch. */
  async function noteOutput({ owner, provider }: StoredBatch, id: string, account: Account) {
    const path = `files/${encodeURIComponent(id)}`
    const call = { requestId: Bun.randomUUIDv7(), method: 'GET', path } as const
    const described = await send(account, call).then(readJson)
    const { object } = described
    await store.addFile(owner, {
      fileId: id,
      provider,
      purpose: typeof object.purpose === 'string' ? object.purpose : 'batch_output',
      object,
      lines: undefined,
    })
  }

  async function read(account: Account, path: string): Promise<JsonObject> {
    const call = { requestId: Bun.randomUUIDv7(), method: 'GET', path } as const
    return (await readJson(await send(account, call))).object
  }

  async function lookAtBatch(batch: StoredBatch): Promise<void> {
    const { owner, batchId, provider, looks } = batch
    const told = { batch_id: batchId, ownership_scope_key: owner, provider }
    const putOff = (problem?: string, err?: unknown) => {
      // Logs each problem once, however often the check is repeated.
      if (problem !== undefined && problem !== batch.problem) {
        log.warn({ ...told, reason: problem, err }, 'a batch cannot be charged yet')
      }
      return store.putOffBatch(batch, later(looks, BATCH_PAUSES), problem)
    }
    const account = accounts.find(provider, 'batches')
    if (account === undefined)
      return await putOff(`the provider '${provider}' is not in the config`)
    try {
      if (batchId.startsWith(PENDING)) return await findUnanswered(batch, account)
      const object = await read(account, `batches/${encodeURIComponent(batchId)}`)
      await noteBatch(batch, object, account)
      if (!BATCH_OVER.has(object.status)) return await putOff()
      await charge.batch(batch, object, account, signal)
      await store.settledBatch(batch, undefined)
    } catch (error) {
      if (signal.aborted) return await store.putOffBatch(batch, new Date(now()), batch.problem)
      const problem = messageOf(error)
      // Not before the second 404, because some vendors do not find new objects at first.
      if (!isGone(error) || problem !== batch.problem) return await putOff(problem, error)
      await charge.lostBatch(batch, account)
      log.error(
        { ...told, err: error },
        'the provider no longer has the batch: its cost is unknown',
      )
      await store.settledBatch(batch, problem)
    }
  }

  /**
   * Looks up the batch of a create call without a reply: the one with the same input file that is
   * not recorded yet.
   */
  async function findUnanswered(batch: StoredBatch, account: Account): Promise<void> {
    const { owner, batchId, inputFileId } = batch
    const { data } = await read(account, 'batches?limit=100')
    for (const object of Array.isArray(data) ? data.filter(isJsonObject) : []) {
      if (object.input_file_id !== inputFileId) continue
      if ((await store.batch(owner, String(object.id))) !== undefined) continue
      log.warn({ batch_id: object.id }, 'found the batch of a create call that had no reply')
      return await store.nameBatch(owner, batchId, object, new Date(now()))
    }
    await store.forgetBatch(owner, batchId)
  }

  async function lookAtResponse(response: StoredResponse): Promise<void> {
    const { responseId, provider, looks = 0 } = response
    const putOff = (problem?: string, err?: unknown) => {
      if (problem !== undefined && problem !== response.problem) {
        const told = { response_id: responseId, provider, reason: problem, err }
        log.warn(told, 'a background response cannot be charged yet')
      }
      return store.putOffResponse(response, later(looks, RESPONSE_PAUSES), problem)
    }
    const account = accounts.find(provider, 'responses')
    if (account === undefined)
      return await putOff(`the provider '${provider}' is not in the config`)
    try {
      const body = await read(account, `responses/${encodeURIComponent(responseId)}`)
      if (!RESPONSE_OVER.has(body.status)) return await putOff()
      await charge.response(response, body, account)
      await store.settledResponse(response)
    } catch (error) {
      const problem = messageOf(error)
      if (!isGone(error) || problem !== response.problem) return await putOff(problem, error)
      await charge.response(response, undefined, account)
      log.error(
        { response_id: responseId, provider },
        'the provider no longer has the response: its cost is unknown',
      )
      await store.settledResponse(response)
    }
  }

  let looking: Promise<void> | undefined
  async function lookAtAll(): Promise<void> {
    while (!signal.aborted) {
      const [batches, responses] = [await store.claimBatches(), await store.claimResponses()]
      if (batches.length === 0 && responses.length === 0) return
      await Promise.all([...batches.map(lookAtBatch), ...responses.map(lookAtResponse)])
    }
  }
  function look(): Promise<void> {
    looking ??= lookAtAll().finally(() => {
      looking = undefined
    })
    return looking
  }
  /** Starts a check in the background, or joins the running one. */
  function soon(): void {
    look().catch((err: unknown) => log.warn({ err }, 'failed to check batches and responses'))
  }

  return {
    look,
    seenBatch,
    seenResponse,
    drained: async () => void (await looking?.catch(() => {})),
  }
}

const isGone = (error: unknown) => error instanceof GatewayError && error.status === 404

/** The message of an upstream error. Internal errors are in the log. */
function messageOf(error: unknown): string {
  return error instanceof GatewayError ? error.message : 'internal error of the gateway'
}
