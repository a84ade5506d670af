import type { Principal } from 'model-gateway/identity'
import type { JsonObject } from 'model-gateway/plugin'
import type { Usage } from 'model-gateway/wire'
import type { BatchLines, LineModel } from './lines.ts'

/** The caller's data for ledger rows that are written later. */
export type Payer = Pick<Principal, 'apiKeyId' | 'owner' | 'ownershipScopeKey'>

export const payerOf = ({ apiKeyId, owner, ownershipScopeKey }: Principal): Payer => ({
  apiKeyId,
  owner,
  ownershipScopeKey,
})

/** A payer as the principal for accounting; its key is not checked again. */
export const principalOf = (payer: Payer): Principal => ({
  ...payer,
  grants: 'all',
  allowlists: [],
})

export interface StoredFile {
  readonly fileId: string
  readonly provider: string
  readonly purpose: string
  readonly object: JsonObject
  readonly lines: BatchLines | undefined
}

export interface StoredBatch {
  readonly owner: string
  readonly batchId: string
  readonly provider: string
  readonly inputFileId: string
  readonly endpoint: string
  readonly payer: Payer
  readonly lines: BatchLines
  readonly configVersion: string
  readonly object: JsonObject | undefined
  readonly createdAt: Date
  readonly settled: boolean
  readonly problem: string | undefined
  readonly looks: number
}

/** The data to charge a response with. */
export interface PendingResponse {
  readonly payer: Payer
  readonly configVersion: string
  /** Usage that was charged when the stream broke off. */
  readonly charged?: Usage
}

export interface StoredResponse {
  readonly owner: string
  readonly responseId: string
  readonly provider: string
  readonly model: LineModel
  readonly pending: PendingResponse | undefined
  readonly createdAt: Date
  readonly problem?: string | undefined
  readonly looks?: number
}

export interface FileRow {
  readonly file_id: string
  readonly provider_key: string
  readonly purpose: string
  readonly object: JsonObject
  readonly lines: BatchLines | null
}

export const fileOf = (row: FileRow): StoredFile => ({
  fileId: row.file_id,
  provider: row.provider_key,
  purpose: row.purpose,
  object: row.object,
  lines: row.lines ?? undefined,
})

export interface BatchRow {
  readonly ownership_scope_key: string
  readonly batch_id: string
  readonly provider_key: string
  readonly input_file_id: string
  readonly endpoint: string
  readonly principal: Payer
  readonly lines: BatchLines
  readonly config_version: string
  readonly object: JsonObject | null
  readonly created_at: Date
  readonly settled_at: Date | null
  readonly problem: string | null
  readonly looks: number
}

export const batchOf = (row: BatchRow): StoredBatch => ({
  owner: row.ownership_scope_key,
  batchId: row.batch_id,
  provider: row.provider_key,
  inputFileId: row.input_file_id,
  endpoint: row.endpoint,
  payer: row.principal,
  lines: row.lines,
  configVersion: row.config_version,
  object: row.object ?? undefined,
  createdAt: row.created_at,
  settled: row.settled_at !== null,
  problem: row.problem ?? undefined,
  looks: row.looks,
})

export interface ResponseRow {
  readonly ownership_scope_key: string
  readonly response_id: string
  readonly provider_key: string
  readonly model_key: string
  readonly resolved_model_key: string
  readonly upstream_model: string
  readonly pending: PendingResponse | null
  readonly created_at: Date
  readonly problem: string | null
  readonly looks: number
}

export const responseOf = (row: ResponseRow): StoredResponse => ({
  owner: row.ownership_scope_key,
  responseId: row.response_id,
  provider: row.provider_key,
  model: {
    requested: row.model_key,
    resolved: row.resolved_model_key,
    upstream: row.upstream_model,
  },
  pending: row.pending ?? undefined,
  createdAt: row.created_at,
  problem: row.problem ?? undefined,
  looks: row.looks,
})
