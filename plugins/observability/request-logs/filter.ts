import { type Static, strictObject, Type } from 'model-gateway/plugin'
import { ownId } from '../../_shared/own-id.ts'
import {
  filterText,
  invalidQuery,
  type Period,
  periodQuery,
  readPeriod,
} from '../../_shared/query.ts'

/** What every list and count of request logs can be narrowed by. */
export const filterQuery = {
  request_id: filterText("The caller's or the gateway's id of a request.", 128),
  model_key: filterText('The model that was asked for.'),
  provider_key: filterText('The provider that was called.'),
  status_code: Type.Optional(
    Type.Integer({
      minimum: 100,
      maximum: 599,
      description: 'The HTTP status of the answer.',
      errorMessage: 'must be an HTTP status, 100 to 599',
    }),
  ),
  user_id: filterText('The user who called.', 64),
  team_id: filterText("The caller's team.", 64),
  service_account_id: filterText('The service account that called.', 64),
  operation: filterText(
    'chat_completions, responses, embeddings, completions, moderations, rerank, images, or one that a plugin brings; calls of the messages API are chat_completions.',
    64,
  ),
  agent_harness_key: filterText(
    'The coding agent that called, such as claude_code or codex; unknown for all others.',
    64,
  ),
  outcome: filterText(
    'success, budget_error, guardrail_denied, invalid_request, upstream_error, client_abort or internal_error.',
    64,
  ),
  error_code: filterText('The code of the error, such as budget_exceeded.', 64),
  service: filterText('The tag service.', 64),
  component: filterText('The tag component.', 64),
  env: filterText('The tag env.', 64),
  tag_key: filterText('Any tag; goes with tag_value.', 32),
  tag_value: filterText('Its value; goes with tag_key.', 64),
  ...periodQuery,
}
const Query = strictObject(filterQuery)

/** Columns of the summary that a filter compares; what others mostly decide comes after them. */
const columns = [
  'request_id',
  'model_key',
  'user_id',
  'service_account_id',
  'env',
  'component',
  'service',
  'error_code',
  'status_code',
  'outcome',
  'agent_harness_key',
  'team_id',
  'provider_key',
  'operation',
] as const

export interface Filter extends Period {
  readonly columns: readonly (readonly [name: (typeof columns)[number], value: string | number])[]
  readonly tag: readonly [key: string, value: string] | undefined
}

/** Throws `invalid_request` naming the parameter. */
export function readFilter(query: Static<typeof Query>): Filter {
  const { tag_key, tag_value } = query
  if (tag_key === undefined && tag_value !== undefined) {
    throw invalidQuery('tag_key', 'goes with tag_value')
  }
  if (tag_value === undefined && tag_key !== undefined) {
    throw invalidQuery('tag_value', 'goes with tag_key')
  }
  return {
    columns: columns.flatMap((name) => {
      const value = query[name]
      if (value === undefined) return []
      const isId = name === 'user_id' || name === 'service_account_id' || name === 'team_id'
      return [[name, isId ? ownId(String(value)) : value] as const]
    }),
    tag: tag_key === undefined || tag_value === undefined ? undefined : [tag_key, tag_value],
    ...readPeriod(query),
  }
}
