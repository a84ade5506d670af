import { Kind, type TSchema, Type } from '@sinclair/typebox'
import { accountingErrors } from 'model-gateway/accounting'
import { type ErrorCode, type ErrorKind, errorKind } from 'model-gateway/plugin'
import type { AdminRoute, Audience } from './contract.ts'

const ERRORS_OF: Readonly<Record<Audience, readonly (ErrorCode | ErrorKind)[]>> = {
  anyone: [],
  me: [
    'session_required',
    'missing_authorization_header',
    'invalid_authorization_header',
    'invalid_api_key_format',
    'conflicting_api_key_headers',
    'api_key_not_found',
    'api_key_revoked',
    'api_key_expired',
    'api_key_secret_mismatch',
    'api_key_owner_inactive',
    accountingErrors.service_account_budget_required,
  ],
  session: ['session_required'],
  platform_admin: ['session_required', 'insufficient_privileges'],
}
const ERRORS_OF_ALL: readonly ErrorCode[] = [
  'invalid_request',
  'csrf_rejected',
  'store_unavailable',
  'internal_error',
]
const ERRORS_OF_UNSAFE: readonly ErrorCode[] = ['request_body_too_large']

/** The body of every error of the control plane: `#/components/schemas/Error`. */
export const errorReply = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String(),
        type: Type.String(),
        code: Type.String(),
        param: Type.Null(),
        request_id: Type.String(),
      },
      { additionalProperties: true },
    ),
  },
  { additionalProperties: false },
)

/** The body of every JSON success of the control plane. */
function envelopeOf(result: TSchema) {
  return Type.Object(
    { data: result, meta: Type.Object({ generated_at: Type.String({ format: 'date-time' }) }) },
    { additionalProperties: false },
  )
}

/** Every error code that a route can answer with. */
function errorsOf(route: AdminRoute): readonly ErrorKind[] {
  const unsafe = route.method !== 'GET'
  const all = [
    ...new Set([
      ...ERRORS_OF_ALL,
      ...ERRORS_OF[route.audience],
      ...(unsafe ? ERRORS_OF_UNSAFE : []),
      ...(checksBody(route) ? (['validation_failed'] as const) : []),
      ...(route.params === undefined ? [] : (['not_found'] as const)),
      ...(route.errors ?? []),
    ]),
  ]
  return all.map(errorKind)
}

/** Whether a JSON body can be rejected before the route runs. */
function checksBody({ body, allowsNul }: AdminRoute): boolean {
  return body !== undefined && !(body[Kind] === 'Unknown' && allowsNul === true)
}

/** A route as an OpenAPI operation. */
export function operationOf(route: AdminRoute) {
  const parameters = [
    ...Object.entries(route.params?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'path' as const,
      required: true,
      schema,
    })),
    ...Object.entries(route.query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query' as const,
      required: route.query?.required?.includes(name) ?? false,
      schema,
    })),
  ]
  return {
    operationId: operationIdOf(route),
    tags: [route.tag],
    summary: route.summary,
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: route.body } } },
    }),
    responses: responsesOf(route),
    security: securityOf(route.audience),
  }
}

/** `GET /api/v1/admin/users/{user_id}` → `getAdminUsersUserId` */
function operationIdOf({ method, path }: AdminRoute): string {
  const words = path.replace('/api/v1/', '').match(/[a-z0-9]+/gi) ?? []
  return [method.toLowerCase(), ...words.map((w) => w.charAt(0).toUpperCase() + w.slice(1))].join(
    '',
  )
}

function responsesOf(route: AdminRoute) {
  const status = route.status ?? 200
  const content =
    route.contentType === undefined
      ? { 'application/json': { schema: envelopeOf(route.result) } }
      : { [route.contentType.split(';', 1)[0] as string]: { schema: route.result } }
  const headers = Object.entries(route.replyHeaders ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  const responses: Record<string, object> = {
    [status]: {
      description: 'Success',
      ...(status !== 204 && { content }),
      ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    },
  }
  const codes = Map.groupBy(errorsOf(route), ({ status }) => status)
  for (const [failure, kinds] of [...codes].toSorted(([a], [b]) => a - b)) {
    responses[failure] = {
      description: kinds.map(({ code }) => code).join(', '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  return responses
}

function securityOf(audience: Audience) {
  if (audience === 'anyone') return []
  return audience === 'me' ? [{ session: [] }, { api_key: [] }] : [{ session: [] }]
}
