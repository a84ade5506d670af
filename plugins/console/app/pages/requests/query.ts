import type { Data } from '@/api/query.ts'
import {
  type Filter,
  instant,
  oneOf,
  page,
  text,
  usualOf,
  type Values as ValuesOf,
} from '@/lib/filters.ts'

export type RequestPage = Data<'/api/v1/admin/observability/request-logs'>
export type RequestLog = RequestPage['items'][number]
export type RequestDetail = Data<'/api/v1/admin/observability/request-logs/{request_log_id}'>

export const operations = [
  'chat_completions',
  'responses',
  'embeddings',
  'completions',
  'moderations',
  'rerank',
  'images',
  'messages.count_tokens',
  'files',
  'batches',
  'responses.stored',
] as const
export const operationNames: Readonly<Record<string, string>> = {
  chat_completions: 'Chat',
  responses: 'Responses',
  embeddings: 'Embeddings',
  completions: 'Completions',
  moderations: 'Moderations',
  rerank: 'Rerank',
  images: 'Images',
  'messages.count_tokens': 'Token count',
  files: 'Files',
  batches: 'Batches',
  'responses.stored': 'Stored responses',
}

export const outcomes = [
  'success',
  'budget_error',
  'guardrail_denied',
  'invalid_request',
  'upstream_error',
  'client_abort',
  'internal_error',
] as const

export const outcomeNames: Readonly<Record<(typeof outcomes)[number], string>> = {
  success: 'Success',
  budget_error: 'Budget exceeded',
  guardrail_denied: 'Denied by a guardrail',
  invalid_request: 'Invalid request',
  upstream_error: 'Upstream error',
  client_abort: 'Canceled by client',
  internal_error: 'Internal error',
}

/** A status code that the API accepts; any other text is ignored. */
const status: Filter<string> = {
  read: (value) => (/^[1-5]\d\d$/.test(value ?? '') ? (value as string) : ''),
  write: text.write,
}

/** The filters of the page; the names are those of the API. */
export const filters = {
  occurred_at_start: instant,
  occurred_at_end: instant,
  model_key: text,
  provider_key: text,
  status_code: status,
  user_id: text,
  team_id: text,
  service_account_id: text,
  operation: oneOf(['', ...operations], ''),
  request_id: text,
  agent_harness_key: text,
  outcome: oneOf(['', ...outcomes], ''),
  error_code: text,
  service: text,
  component: text,
  env: text,
  tag_key: text,
  tag_value: text,
  page,
  live: oneOf(['off', 'on'], 'off'),
}

export type Values = ValuesOf<typeof filters>
export type Change = (changes: Partial<Values>) => void

/** The filters behind “More filters”. */
export const further = [
  'request_id',
  'agent_harness_key',
  'outcome',
  'error_code',
  'service',
  'component',
  'env',
  'tag_key',
  'tag_value',
  'operation',
] as const

/** The defaults of all filters except page and live tail. */
export const cleared = usualOf(filters, 'page', 'live')

/** The filters as query parameters of the API. */
export function queryOf(values: Values) {
  const { page: _, live: __, status_code, tag_key, tag_value, ...rest } = values
  const both = tag_key !== '' && tag_value !== ''
  return {
    ...rest,
    status_code: status_code === '' ? undefined : Number(status_code),
    tag_key: both ? tag_key : undefined,
    tag_value: both ? tag_value : undefined,
  }
}
