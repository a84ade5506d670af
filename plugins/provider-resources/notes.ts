import type { Principal } from 'model-gateway/identity'
import type { ExchangeRecord, ExchangeRecorder } from 'model-gateway/observer'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { createGroupCommit } from '../_shared/group-commit.ts'
import type { Accounts } from './accounts.ts'
import { RESPONSES } from './charge.ts'
import { payerOf, type StoredResponse } from './rows.ts'
import type { Store } from './store.ts'

export interface NotesOptions {
  readonly store: Store
  readonly accounts: Accounts
  failed(error: unknown): void
}

/** Maximum number of entries that wait for an unreachable database; more are lost. */
const MAX_WAITING = 50_000
const MAX_BATCH = 500

/** Records the owner of each response as soon as it has been answered. */
export function createNotes({ store, accounts, failed }: NotesOptions) {
  /** Entries that are not in the database yet. */
  const waiting = new Map<string, StoredResponse>()
  const commits = createGroupCommit(write, MAX_BATCH)

  async function write(notes: readonly StoredResponse[]): Promise<void> {
    try {
      await store.addResponses(notes)
      for (const note of notes) waiting.delete(keyOf(note.owner, note.responseId))
    } catch (error) {
      failed(error)
    }
  }

  const recorder: ExchangeRecorder = {
    // The first event contains the id.
    streamEventLimit: () => 1,
    record(exchange) {
      const note = noteOf(exchange)
      if (note === undefined || waiting.size >= MAX_WAITING) return
      if (accounts.find(note.provider, RESPONSES) === undefined) return
      waiting.set(keyOf(note.owner, note.responseId), note)
      void commits.add(note)
    },
  }

  return {
    recorder,
    async find(owner: string, id: string): Promise<StoredResponse | undefined> {
      return waiting.get(keyOf(owner, id)) ?? (await store.response(owner, id))
    },
    /** Writes the waiting entries. */
    async flush(): Promise<void> {
      await commits.drained()
      if (waiting.size > 0) await write([...waiting.values()].slice(0, MAX_BATCH))
    },
  }
}

const keyOf = (owner: string, id: string) => `${owner} ${id}`

/** `undefined` if the response is not stored. */
function noteOf(exchange: ExchangeRecord): StoredResponse | undefined {
  const { principal, provider, requestedModel, resolvedModel, upstreamModel } = exchange
  if (exchange.operation !== RESPONSES || exchange.surface !== RESPONSES) return undefined
  if (principal === undefined || provider === undefined || upstreamModel === undefined)
    return undefined
  if (requestedModel === undefined || resolvedModel === undefined) return undefined
  const body = responseIn(exchange)
  const background = exchange.requestBody?.background === true
  if (exchange.outcome !== 'success' && !background) return undefined
  if (typeof body?.id !== 'string' || exchange.requestBody?.store === false) return undefined
  return {
    owner: principal.ownershipScopeKey,
    responseId: body.id,
    provider,
    model: { requested: requestedModel, resolved: resolvedModel, upstream: upstreamModel },
    pending: background && goesOn(exchange, body) ? pendingOf(exchange, principal) : undefined,
    createdAt: exchange.receivedAt,
  }
}

/** A background stream continues when its caller disconnects. */
function goesOn({ stream, outcome }: ExchangeRecord, { status }: JsonObject): boolean {
  return stream ? outcome === 'client_abort' : status === 'queued' || status === 'in_progress'
}

function pendingOf({ configVersion, usage, settlement }: ExchangeRecord, principal: Principal) {
  const charged = settlement?.kind === 'none' ? undefined : usage
  return { payer: payerOf(principal), configVersion, ...(charged && { charged }) }
}

function responseIn({ response }: ExchangeRecord): JsonObject | undefined {
  if (response.kind === 'buffered') return objectOf(response.body)
  const [first] = response.events
  try {
    return objectOf(objectOf(first?.json())?.response)
  } catch {
    return undefined
  }
}

const objectOf = (value: JsonValue | undefined) => (isJsonObject(value) ? value : undefined)
