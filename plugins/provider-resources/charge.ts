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
  /** Of the routes in force, by id. */
  readonly routes: () => ReadonlyMap<string, Pick<BoundRouteFacts, 'pricing'>>
}

/** Ledger rows that are written together. */
const AT_ONCE = 200
/** The tier under which price lists have the prices of batches. */
const BATCH_TIER = 'batch'
/** Ids that can be read in the ledger as they are; others are told by their digest. */
const PLAIN_ID = /^[\x21-\x7e]{1,256}$/

export type Charge = ReturnType<typeof createCharge>

/** Writes the ledger rows of what an upstream has done after its call was answered. */
export function createCharge({ store, accounting, surfaces, dialects, routes }: ChargeOptions) {
  /** As of a call of the route, or, where that has left the config or is a wildcard's, of the provider. */
  function pricingOf({ resolved, upstream }: LineModel, account: Account): PricingIdentity {
    const route = routes().get(`${resolved}/${account.provider}/${upstream}`)
    return route?.pricing ?? account.pricing(upstream)
  }

  /**
   * One row for each line of the output that says what it used, under an id made of those of the batch and
   * the line: what has its row already is left out, so that a second run changes nothing.
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

  /** The output is gone before it was read: one row that says so, in the ledger's own way. */
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

  /** One row for a response that ended in the background, under its own id. `body`: absent when it is gone. */
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

/** What a whole reply says that it used, also one that says that its call failed. */
function usageOf(body: JsonObject, dialect: Dialect | undefined): Usage | undefined {
  if (dialect === undefined) return readChatUsage(body.usage, body.service_tier)
  try {
    return dialect.readReply(body).usage
  } catch (error) {
    return error instanceof GatewayError ? error.usage : undefined
  }
}

/** What is left of a call of which a part is charged. */
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

/** Lines say `default`, or nothing: their tier is that of batches. What else changes the price stays. */
function asBatch(usage: Usage | undefined): Usage | undefined {
  const others = usage?.tier?.split('+').filter((part) => part.includes('=')) ?? []
  return usage && { ...usage, tier: [BATCH_TIER, ...others].join('+') }
}
