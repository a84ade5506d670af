import type { Accounting } from 'model-gateway/accounting'
import type { BoundRouteFacts } from 'model-gateway/host'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { PricingIdentity } from 'model-gateway/provider'
import type { Dialect, Surface } from 'model-gateway/surface'
import { readChatUsage, type Usage } from 'model-gateway/wire'
import { type Account, send } from './accounts.ts'
import { BATCHES } from './batches.ts'
import { type LineModel, linesOf, modelOf, type OutputLine, readOutputLine } from './lines.ts'
import { surfaceOf } from './models.ts'
import { principalOf, type StoredBatch, type StoredResponse } from './rows.ts'
import type { Store } from './store.ts'

export interface ChargeOptions {
  readonly store: Store
  readonly accounting: () => Accounting
  readonly surfaces: () => readonly Surface[]
  readonly dialects: () => readonly Dialect[]
  /** The active routes, by id. */
  readonly routes: () => ReadonlyMap<string, Pick<BoundRouteFacts, 'pricing'>>
}

/** Number of ledger rows that are written together. */
const AT_ONCE = 200
/** The tier of batch prices in price lists. */
const BATCH_TIER = 'batch'
/** Ids that go into the ledger unchanged; others are replaced by their digest. */
const PLAIN_ID = /^[\x21-\x7e]{1,256}$/

export type Charge = ReturnType<typeof createCharge>

/** Writes the ledger rows of work that an upstream did after it replied to the call. */
export function createCharge({ store, accounting, surfaces, dialects, routes }: ChargeOptions) {
  /** The pricing of the route, or of the provider if the route left the config or is a wildcard. */
  function pricingOf({ resolved, upstream }: LineModel, account: Account): PricingIdentity {
    const route = routes().get(`${resolved}/${account.provider}/${upstream}`)
    return route?.pricing ?? account.pricing(upstream)
  }

  /**
   * Writes one row per output line with usage. The request id is derived from the batch and the
   * line, so a second run skips rows that exist.
   */
  async function batch(
    ended: StoredBatch,
    object: JsonObject,
    account: Account,
    signal: AbortSignal,
  ): Promise<void> {
    const { output_file_id: output } = object
    if (typeof output !== 'string') return
    const surface = surfaceOf(ended.endpoint, surfaces())
    if (surface?.priced === false) return
    const dialect = dialects().find(({ id }) => id === surface?.dialect)
    const reply = await send(account, {
      requestId: Bun.randomUUIDv7(),
      method: 'GET',
      path: `files/${encodeURIComponent(output)}/content`,
      signal,
    })
    let lines: OutputLine[] = []
    for await (const text of linesOf(reply.body)) {
      const line = readOutputLine(text)
      if (line?.succeeded) lines.push(line)
      if (lines.length < AT_ONCE) continue
      await write(ended, lines, account, dialect)
      await store.keepBatch(ended)
      lines = []
    }
    await write(ended, lines, account, dialect)
  }

  async function write(
    ended: StoredBatch,
    lines: readonly OutputLine[],
    account: Account,
    dialect: Dialect | undefined,
  ): Promise<void> {
    const charged = await store.charged(
      ended.owner,
      lines.map((line) => lineId(ended, line)),
    )
    const open = lines.filter((line) => !charged.has(lineId(ended, line)))
    await Promise.all(
      open.map(({ customId, body }) => {
        const usage = body && asBatch(usageOf(body, dialect))
        return settle(ended, account, lineId(ended, { customId }), customId, usage)
      }),
    )
  }

  /** Writes one row without usage for a batch whose output is lost. */
  async function lostBatch(ended: StoredBatch, account: Account): Promise<void> {
    if ((await store.charged(ended.owner, [ended.batchId])).size > 0) return
    await settle(ended, account, ended.batchId, '', undefined)
  }

  function settle(
    ended: StoredBatch,
    account: Account,
    requestId: string,
    customId: string,
    usage: Usage | undefined,
  ) {
    const model = modelOf(ended.lines, customId)
    const { requested, resolved, upstream } = model
    return accounting().settle({
      requestId,
      callerChoseRequestId: false,
      principal: principalOf(ended.payer),
      operation: BATCHES,
      requestedModel: requested,
      resolvedModel: resolved,
      provider: ended.provider,
      upstreamModel: upstream,
      pricing: pricingOf(model, account),
      configVersion: ended.configVersion,
      dispatchedAt: ended.createdAt,
      billingModifiers: [],
      usage,
      succeeded: true,
    })
  }

  /**
   * Writes one row for a background response that ended. `body` is absent if the response is lost.
   */
  async function response(
    ended: StoredResponse,
    body: JsonObject | undefined,
    account: Account,
  ): Promise<void> {
    const { owner, responseId, pending, model, provider, createdAt } = ended
    if (pending === undefined || (await store.charged(owner, [responseId])).size > 0) return
    const dialect = dialects().find(({ id }) => id === RESPONSES)
    await accounting().settle({
      requestId: responseId,
      callerChoseRequestId: false,
      principal: principalOf(pending.payer),
      operation: RESPONSES,
      requestedModel: model.requested,
      resolvedModel: model.resolved,
      provider,
      upstreamModel: model.upstream,
      pricing: pricingOf(model, account),
      configVersion: pending.configVersion,
      dispatchedAt: createdAt,
      billingModifiers: [],
      usage: body && without(usageOf(body, dialect), pending.charged),
      succeeded: body === undefined || body.status === 'completed' || body.status === 'incomplete',
    })
  }

  return { batch, lostBatch, response, pricingOf }
}

export const RESPONSES = 'responses'

function lineId({ batchId }: StoredBatch, { customId }: Pick<OutputLine, 'customId'>): string {
  const plain = PLAIN_ID.test(customId) ? customId : undefined
  return `${batchId}:${plain ?? new Bun.CryptoHasher('sha256').update(customId).digest('base64url')}`
}

/** The usage in a complete reply, even if the reply says that the call failed. */
function usageOf(body: JsonObject, dialect: Dialect | undefined): Usage | undefined {
  if (dialect === undefined) return readChatUsage(body.usage, body.service_tier)
  try {
    return dialect.readReply(body).usage
  } catch (error) {
    return error instanceof GatewayError ? error.usage : undefined
  }
}

/** The rest of a call that is partly charged. */
function without(usage: Usage | undefined, charged: Usage | undefined): Usage | undefined {
  if (usage === undefined || charged === undefined) return usage
  const rest = (bucket: 'uncachedInput' | 'cacheRead' | 'cacheWrite' | 'output' | 'reasoning') =>
    usage[bucket] === undefined ? undefined : Math.max(0, usage[bucket] - (charged[bucket] ?? 0))
  const left = {
    uncachedInput: rest('uncachedInput'),
    cacheRead: rest('cacheRead'),
    cacheWrite: rest('cacheWrite'),
    output: rest('output'),
    reasoning: rest('reasoning'),
  }
  const { uncachedInput = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = left
  const promptTokens = uncachedInput + cacheRead + cacheWrite
  return { ...usage, ...left, promptTokens, totalTokens: promptTokens + output }
}

/**
 * Lines have the tier `default` or none, but are billed in the batch tier. Other price modifiers
 * stay.
 */
function asBatch(usage: Usage | undefined): Usage | undefined {
  const others = usage?.tier?.split('+').filter((part) => part.includes('=')) ?? []
  return usage && { ...usage, tier: [BATCH_TIER, ...others].join('+') }
}
