import type { Accounting } from 'model-gateway/accounting'
import type { HttpRoute } from 'model-gateway/http'
import { type Clock, GatewayError, type JsonObject } from 'model-gateway/plugin'
import type { PricingIdentity } from 'model-gateway/provider'
import { invalid, parseObject } from 'model-gateway/wire'
import type { Account, Accounts } from './accounts.ts'
import { jsonAnswer, type Route, readReply, type Served } from './door.ts'
import { listOf, readPage } from './files.ts'
import type { LineModel } from './lines.ts'
import type { Models } from './models.ts'
import { payerOf, type StoredBatch, type StoredFile } from './rows.ts'
import type { Store } from './store.ts'

export interface BatchesOptions {
  readonly store: Store
  readonly accounts: Accounts
  readonly models: Models
  readonly accounting: () => Accounting
  readonly clock: Clock
  readonly pricingOf: (model: LineModel, account: Account) => PricingIdentity
  /** Records a provider's status of a batch, and charges the batch when it has ended. */
  readonly seen: (batch: StoredBatch, object: JsonObject, account: Account) => Promise<void>
}

/** The operation of batch lines in the ledger. */
export const BATCHES = 'batches'
/** Delay before the gateway checks a create call that got no reply. */
const UNANSWERED_MS = 120_000
const FIRST_LOOK_MS = 30_000

export const PENDING = 'pending:'

/**
 * `/v1/batches`: served by the provider that stores the input file, for the owner that uploaded it.
 */
export function batchRoutes(route: Route, options: BatchesOptions): readonly HttpRoute[] {
  const { store, accounts, seen } = options
  const ofBatch = (method: 'GET' | 'POST', path: string, upstream: string) =>
    route(BATCHES, method, path, async (served) => {
      const { id = '' } = served.call.params
      const batch = await store.batch(served.principal.ownershipScopeKey, id)
      if (batch === undefined) {
        throw new GatewayError(
          'not_found',
          `batch '${id}' does not exist, or this owner did not create it through this gateway`,
        )
      }
      const account = accounts.open(batch.provider, 'batches', `the batch '${id}'`)
      const at = `batches/${encodeURIComponent(id)}${upstream}`
      const { object, answer } = await readReply(await served.send(account, { method, path: at }))
      await seen(batch, object, account)
      return answer()
    })

  return [
    route(BATCHES, 'POST', '/v1/batches', (served) => create(served, options)),
    route(BATCHES, 'GET', '/v1/batches', async ({ call, principal }) => {
      const { limit = 20, ...page } = limited(call.url().searchParams)
      const owner = principal.ownershipScopeKey
      const found = await store.batches(owner, { ...page, limit: limit + 1 })
      const objects = found.map(({ object = {} }) => object)
      return jsonAnswer(listOf(objects, limit))
    }),
    ofBatch('GET', '/v1/batches/:id', ''),
    ofBatch('POST', '/v1/batches/:id/cancel', '/cancel'),
  ]
}

function limited(query: URLSearchParams) {
  const page = readPage(query, 100)
  return query.has('limit') ? page : { ...page, limit: 20 }
}

async function create(served: Served, options: BatchesOptions) {
  const { store, accounts, clock, seen } = options
  const { call, principal, lease } = served
  const owner = principal.ownershipScopeKey
  const text = await call.text()
  const body = parseObject(text)
  if (body === undefined) throw invalid('the request body must be a JSON object')
  served.noted.requestBody = body
  const { input_file_id: inputFileId, endpoint } = body
  if (typeof inputFileId !== 'string') throw invalid('input_file_id: must be the id of a file')
  if (typeof endpoint !== 'string') throw invalid('endpoint: must be a path such as /v1/responses')
  const file = await store.file(owner, inputFileId)
  if (file === undefined) {
    throw new GatewayError(
      'not_found',
      `input_file_id: file '${inputFileId}' does not exist, or this owner did not upload it through this gateway`,
    )
  }
  const { lines, provider } = file
  if (lines === undefined) {
    throw invalid(
      `input_file_id: the file '${inputFileId}' has the purpose '${file.purpose}', but a batch requires a file with the purpose 'batch'`,
    )
  }
  const account = accounts.open(provider, 'batches', `the file '${inputFileId}'`)
  if (lines.models.length === 1) served.noted.model = lines.models[0] as (typeof lines.models)[0]
  await admit(served, { ...file, lines }, endpoint, account, options)

  const batch = {
    owner,
    batchId: `${PENDING}${Bun.randomUUIDv7()}`,
    provider,
    inputFileId,
    endpoint,
    payer: payerOf(principal),
    lines,
    configVersion: lease.configVersion,
    object: undefined,
  }
  const later = (ms: number) => new Date(clock.now().getTime() + ms)
  // Stored before the call, because a batch that the provider starts is billed even if this process
  // ends.
  await store.addBatch(batch, later(UNANSWERED_MS))
  let reply: Awaited<ReturnType<typeof readReply>>
  try {
    const headers = { 'content-type': 'application/json' }
    reply = await readReply(
      await served.send(account, { method: 'POST', path: 'batches', headers, body: text }),
    )
  } catch (error) {
    const refused = error instanceof GatewayError && error.code === 'upstream_http_error'
    // Without a reply, the batch may still exist; it is looked up later.
    if (refused && error.status < 500) await store.forgetBatch(owner, batch.batchId)
    throw error
  }
  const { object, answer } = reply
  await store.nameBatch(owner, batch.batchId, object, later(FIRST_LOOK_MS))
  const made = await store.batch(owner, String(object.id))
  if (made !== undefined) await seen(made, object, account)
  return answer()
}

/**
 * Refuses callers that may not use a model of the lines, or whose budget is used up, before
 * anything is sent.
 */
async function admit(
  { call, principal, lease }: Served,
  { lines, provider }: StoredFile & Pick<StoredBatch, 'lines'>,
  endpoint: string,
  account: Account,
  { models, accounting, clock, pricingOf }: BatchesOptions,
): Promise<void> {
  const books = accounting()
  for (const { requested, upstream } of lines.models) {
    const model = await models.resolve(principal, provider, endpoint, requested)
    if (model.upstream !== upstream) {
      throw invalid(
        `input_file_id: the model '${requested}' maps to another model at '${provider}' since the file was uploaded: upload the file again`,
      )
    }
    const admission = {
      requestId: `${call.requestId}:${model.resolved}`,
      callerChoseRequestId: false,
      principal,
      operation: BATCHES,
      requestedModel: requested,
      resolvedModel: model.resolved,
      provider,
      upstreamModel: upstream,
      pricing: pricingOf(model, account),
      configVersion: lease.configVersion,
      dispatchedAt: clock.now(),
    }
    await books.admit(admission)
    // The lines are charged one by one when the batch has ended.
    await books.settle({ ...admission, billingModifiers: [], usage: undefined, succeeded: false })
  }
}
