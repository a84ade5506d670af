import type { Database, JsonObject } from 'model-gateway/plugin'
import { deleteInBatches } from '../_shared/delete-in-batches.ts'
import { storableJson } from '../_shared/safe-text.ts'
import {
  type BatchRow,
  batchOf,
  type FileRow,
  fileOf,
  type ResponseRow,
  responseOf,
  type StoredBatch,
  type StoredFile,
  type StoredResponse,
} from './rows.ts'

export interface Page {
  readonly after: string | undefined
  readonly limit: number
  readonly descending: boolean
  readonly purpose?: string | undefined
}

/** Time after which another replica takes over the check of a batch or response. */
const CLAIM = '2 minutes'
/** Maximum number of claims at a time. */
const AT_ONCE = 20

export type Store = ReturnType<typeof createStore>

export function createStore({ sql, schema }: Database) {
  const files = sql(`${schema}.files`)
  const batches = sql(`${schema}.batches`)
  const responses = sql(`${schema}.responses`)
  const json = (value: unknown) =>
    value === undefined ? sql`null` : sql`${storableJson(JSON.stringify(value))}::text::jsonb`

  return {
    async addFile(owner: string, file: StoredFile): Promise<void> {
      await sql`
        insert into ${files} (ownership_scope_key, file_id, provider_key, purpose, object, lines)
        values (${owner}, ${file.fileId}, ${file.provider}, ${file.purpose}, ${json(file.object)},
          ${json(file.lines)})
        on conflict (ownership_scope_key, file_id) do update set provider_key = excluded.provider_key,
          purpose = excluded.purpose, object = excluded.object, lines = excluded.lines`
    },
    async file(owner: string, id: string): Promise<StoredFile | undefined> {
      const [row] = await sql<FileRow[]>`
        select * from ${files} where ownership_scope_key = ${owner} and file_id = ${id}`
      return row && fileOf(row)
    },
    async files(owner: string, { after, limit, descending, purpose }: Page) {
      const order = descending ? sql`desc` : sql`asc`
      const beyond = descending ? sql`<` : sql`>`
      const rows = await sql<FileRow[]>`
        select * from ${files} where ownership_scope_key = ${owner}
          ${purpose === undefined ? sql`` : sql`and purpose = ${purpose}`}
          ${
            after === undefined
              ? sql``
              : sql`and (created_at, file_id) ${beyond} (select created_at, file_id from ${files}
                  where ownership_scope_key = ${owner} and file_id = ${after})`
          }
        order by created_at ${order}, file_id ${order} limit ${limit}`
      return rows.map(fileOf)
    },
    async removeFile(owner: string, id: string): Promise<void> {
      await sql`delete from ${files} where ownership_scope_key = ${owner} and file_id = ${id}`
    },

    async addBatch(
      batch: Omit<StoredBatch, 'settled' | 'problem' | 'looks' | 'createdAt'>,
      firstLook: Date,
    ) {
      await sql`
        insert into ${batches} (ownership_scope_key, batch_id, provider_key, input_file_id, endpoint,
          principal, lines, config_version, next_look_at)
        values (${batch.owner}, ${batch.batchId}, ${batch.provider}, ${batch.inputFileId},
          ${batch.endpoint}, ${json(batch.payer)}, ${json(batch.lines)}, ${batch.configVersion},
          ${firstLook})`
    },
    /** Sets the provider's id of a batch. An existing entry with that id stays. */
    async nameBatch(owner: string, pendingId: string, object: JsonObject, firstLook: Date) {
      await sql`
        update ${batches} set batch_id = ${String(object.id)}, object = ${json(object)},
          next_look_at = ${firstLook}, looks = 0, claimed_until = '-infinity'
        where ownership_scope_key = ${owner} and batch_id = ${pendingId}
          and not exists (select from ${batches}
            where ownership_scope_key = ${owner} and batch_id = ${String(object.id)})`
    },
    async forgetBatch(owner: string, id: string): Promise<void> {
      await sql`delete from ${batches} where ownership_scope_key = ${owner} and batch_id = ${id}`
    },
    async batch(owner: string, id: string): Promise<StoredBatch | undefined> {
      const [row] = await sql<BatchRow[]>`
        select * from ${batches}
        where ownership_scope_key = ${owner} and batch_id = ${id} and object is not null`
      return row && batchOf(row)
    },
    async batches(owner: string, { after, limit }: Page): Promise<StoredBatch[]> {
      const rows = await sql<BatchRow[]>`
        select * from ${batches} where ownership_scope_key = ${owner} and object is not null
          ${
            after === undefined
              ? sql``
              : sql`and (created_at, batch_id) < (select created_at, batch_id from ${batches}
                  where ownership_scope_key = ${owner} and batch_id = ${after})`
          }
        order by created_at desc, batch_id desc limit ${limit}`
      return rows.map(batchOf)
    },
    /** Whether the batch with this output file is not charged yet. */
    async isAwaited(owner: string, fileId: string): Promise<boolean> {
      const [row] = await sql`
        select from ${batches} where ownership_scope_key = ${owner} and settled_at is null
          and object->>'output_file_id' = ${fileId} limit 1`
      return row !== undefined
    },
    /** Records the provider's status of a batch; `lookAt`: time of the next check. */
    async noteBatch(
      { owner, batchId }: BatchKey,
      object: JsonObject,
      lookAt?: Date,
    ): Promise<void> {
      await sql`
        update ${batches} set object = ${json(object)},
          next_look_at = least(next_look_at, ${lookAt ?? null}::timestamptz)
        where ownership_scope_key = ${owner} and batch_id = ${batchId}`
    },
    /** Claims due batches for this process, until it is done or the claim expires. */
    async claimBatches(): Promise<StoredBatch[]> {
      const rows = await sql<BatchRow[]>`
        update ${batches} b set claimed_until = now() + ${CLAIM}::interval, looks = b.looks + 1
        from (
          select ownership_scope_key, batch_id from ${batches}
          where settled_at is null and next_look_at <= now() and claimed_until < now()
          order by next_look_at limit ${AT_ONCE} for update skip locked
        ) as due
        where b.ownership_scope_key = due.ownership_scope_key and b.batch_id = due.batch_id
        returning b.*`
      return rows.map(batchOf)
    },
    async keepBatch({ owner, batchId }: BatchKey): Promise<void> {
      await sql`
        update ${batches} set claimed_until = now() + ${CLAIM}::interval
        where ownership_scope_key = ${owner} and batch_id = ${batchId}`
    },
    async putOffBatch({ owner, batchId }: BatchKey, until: Date, problem: string | undefined) {
      await sql`
        update ${batches} set next_look_at = ${until}, claimed_until = '-infinity',
          problem = ${problem ?? null}
        where ownership_scope_key = ${owner} and batch_id = ${batchId}`
    },
    async settledBatch({ owner, batchId }: BatchKey, problem: string | undefined): Promise<void> {
      await sql`
        update ${batches} set settled_at = now(), problem = ${problem ?? null}
        where ownership_scope_key = ${owner} and batch_id = ${batchId}`
    },
    /** Those of the request ids that have a ledger row. */
    async charged(owner: string, requestIds: readonly string[]): Promise<ReadonlySet<string>> {
      const ids = [...requestIds]
      const rows = await sql<{ request_id: string }[]>`
        select request_id from accounting.usage_cost_events
        where ownership_scope_key = ${owner} and request_id = any(${ids})
        union
        select request_id from accounting.budget_rejected_charges
        where ownership_scope_key = ${owner} and request_id = any(${ids})`
      return new Set(rows.map((row) => row.request_id))
    },

    async addResponses(noted: readonly StoredResponse[]): Promise<void> {
      const rows = noted.map(({ owner, responseId, provider, model, pending, createdAt }) => ({
        ownership_scope_key: owner,
        response_id: responseId,
        provider_key: provider,
        model_key: model.requested,
        resolved_model_key: model.resolved,
        upstream_model: model.upstream,
        pending,
        created_at: createdAt.toISOString(),
      }))
      await sql`
        insert into ${responses} (ownership_scope_key, response_id, provider_key, model_key,
          resolved_model_key, upstream_model, pending, created_at)
        select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (
          ownership_scope_key text, response_id text, provider_key text, model_key text,
          resolved_model_key text, upstream_model text, pending jsonb, created_at timestamptz)
        on conflict do nothing`
    },
    async response(owner: string, id: string): Promise<StoredResponse | undefined> {
      const [row] = await sql<ResponseRow[]>`
        select * from ${responses} where ownership_scope_key = ${owner} and response_id = ${id}`
      return row && responseOf(row)
    },
    async removeResponse(owner: string, id: string): Promise<void> {
      await sql`delete from ${responses} where ownership_scope_key = ${owner} and response_id = ${id}`
    },
    async claimResponses(): Promise<StoredResponse[]> {
      const rows = await sql<ResponseRow[]>`
        update ${responses} r set claimed_until = now() + ${CLAIM}::interval, looks = r.looks + 1
        from (
          select ownership_scope_key, response_id from ${responses}
          where pending is not null and next_look_at <= now() and claimed_until < now()
          order by next_look_at limit ${AT_ONCE} for update skip locked
        ) as due
        where r.ownership_scope_key = due.ownership_scope_key and r.response_id = due.response_id
        returning r.*`
      return rows.map(responseOf)
    },
    async putOffResponse({ owner, responseId }: ResponseKey, until: Date, problem?: string) {
      await sql`
        update ${responses} set next_look_at = ${until}, claimed_until = '-infinity',
          problem = ${problem ?? null}
        where ownership_scope_key = ${owner} and response_id = ${responseId}`
    },
    async settledResponse({ owner, responseId }: ResponseKey): Promise<void> {
      await sql`
        update ${responses} set pending = null
        where ownership_scope_key = ${owner} and response_id = ${responseId}`
    },
    purgeResponses: (before: Date) =>
      deleteInBatches(
        (most) => sql`
          delete from ${responses} where (ownership_scope_key, response_id) in (
            select ownership_scope_key, response_id from ${responses}
            where created_at < ${before} and pending is null limit ${most})`,
      ),
  }
}

type BatchKey = Pick<StoredBatch, 'owner' | 'batchId'>
type ResponseKey = Pick<StoredResponse, 'owner' | 'responseId'>
