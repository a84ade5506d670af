import type { GuardPhase } from 'model-gateway/guardrail'
import type { HttpRoute } from 'model-gateway/http'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import { setMembers } from 'model-gateway/wire'
import type { Account, Accounts } from './accounts.ts'
import { RESPONSES } from './charge.ts'
import { type Handler, type Route, readReply, type Served, streamed } from './door.ts'
import type { StoredResponse } from './rows.ts'
import type { Store } from './store.ts'

export interface ResponsesOptions {
  readonly store: Store
  readonly accounts: Accounts
  readonly find: (owner: string, id: string) => Promise<StoredResponse | undefined>
  readonly seen: (response: StoredResponse, body: JsonObject) => Promise<void>
}

/** The operation of stored responses in the request log. */
const STORED = 'responses.stored'
/** Guardrail phases that check a reply before the caller receives it. */
const JUDGED: readonly GuardPhase[] = ['model_response', 'generated_tool_call']

/**
 * `/v1/responses/{id}` and its subpaths: served by the provider that created the response, for the
 * owner that requested it.
 */
export function responseRoutes(route: Route, options: ResponsesOptions): readonly HttpRoute[] {
  const { store, accounts, find, seen } = options
  type Handle = (served: Served, of: StoredResponse, account: Account) => ReturnType<Handler>
  const ofResponse = (method: 'GET' | 'POST' | 'DELETE', path: string, handle: Handle) =>
    route(
      STORED,
      method,
      path,
      async (served) => {
        const { id = '' } = served.call.params
        const response = await find(served.principal.ownershipScopeKey, id)
        if (response === undefined) {
          throw new GatewayError(
            'not_found',
            `response '${id}' does not exist, or this owner did not create and store it through this gateway`,
          )
        }
        served.noted.model = response.model
        const what = `the response '${id}'`
        return await handle(served, response, accounts.open(response.provider, RESPONSES, what))
      },
      RESPONSES,
    )
  const pathOf = ({ responseId }: StoredResponse, { call }: Served, rest = '') =>
    `responses/${encodeURIComponent(responseId)}${rest}${call.url().search}`

  /** Answers with a response, under its requested model name. */
  async function answerWith(
    method: 'GET' | 'POST',
    path: string,
    served: Served,
    of: StoredResponse,
    account: Account,
  ) {
    const { object, text, answer } = await readReply(await served.send(account, { method, path }))
    await seen(of, object)
    return answer('model' in object ? setMembers(text, { model: of.model.requested }) : text)
  }

  return [
    ofResponse('GET', '/v1/responses/:id', async (served, response, account) => {
      requireUnguarded(served, response)
      const path = pathOf(response, served)
      if (served.call.url().searchParams.get('stream') !== 'true') {
        return await answerWith('GET', path, served, response, account)
      }
      const headers = { accept: 'text/event-stream' }
      const reply = await served.send(account, { method: 'GET', path, headers })
      return streamed(reply, served.call)
    }),
    ofResponse('GET', '/v1/responses/:id/input_items', async (served, response, account) => {
      const path = pathOf(response, served, '/input_items')
      const { answer } = await readReply(await served.send(account, { method: 'GET', path }))
      return answer()
    }),
    ofResponse('POST', '/v1/responses/:id/cancel', async (served, response, account) => {
      const path = pathOf(response, served, '/cancel')
      return await answerWith('POST', path, served, response, account)
    }),
    ofResponse('DELETE', '/v1/responses/:id', async (served, response, account) => {
      if (response.pending !== undefined) {
        // After deletion, its cost could not be read.
        throw new GatewayError(
          'conflict',
          `the response '${response.responseId}' runs in the background, or its cost is being calculated: cancel it, or try again in a moment`,
          { headers: { 'retry-after': '2' } },
        )
      }
      const path = pathOf(response, served)
      const { answer } = await readReply(await served.send(account, { method: 'DELETE', path }))
      await store.removeResponse(response.owner, response.responseId)
      return answer()
    }),
  ]
}

/**
 * Refuses a response whose guardrail checks replies, because the stored reply may contain text that
 * the guardrail denied or masked.
 */
function requireUnguarded({ lease }: Served, { model, provider }: StoredResponse): void {
  const policy = lease.guards?.forRoute(model.resolved, provider, model.upstream)
  if (policy === undefined || !JUDGED.some((phase) => policy.covers(phase))) return
  throw new GatewayError(
    'guardrail_denied',
    `the guardrail policy '${policy.scope}' checks replies of the model '${model.requested}', but stored replies are not checked when they are read: send the request without background`,
  )
}
