import createClient from 'openapi-fetch'
import type { paths } from '@/api/schema.ts'
import { lost } from '@/lib/connection.ts'

/** A problem with one field of the request body. */
export interface FieldProblem {
  /** The path of the field in the body; null or absent: the problem is not in one field. */
  readonly field?: string | null
  readonly message: string
  readonly hint?: string | null
}

/** A failed call, with the gateway's error message or that of a broken connection. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status; 0: the gateway could not be reached. */
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly problems: readonly FieldProblem[]
  constructor(
    status: number,
    code: string,
    message: string,
    requestId?: string,
    problems: readonly FieldProblem[] = [],
  ) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.problems = problems
  }
}

/** The client of the admin API, typed by `openapi.json`. Pass the result to `take`. */
export const api = createClient<paths>({
  baseUrl: window.location.origin,
  async fetch(request) {
    try {
      return await fetch(request)
    } catch (error) {
      if (request.signal.aborted) throw error
      lost()
      throw new ApiError(0, 'unreachable', 'The gateway cannot be reached.')
    }
  },
})

interface Outcome<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}

/** Returns the `data` of a response; throws ApiError. */
export async function take<T>(call: Promise<Outcome<{ data: T }>>): Promise<T> {
  const { data, error, response } = await call
  if (data === undefined) throw errorOf(error, response)
  return data.data
}

/** As `take`, for a response without a body. */
export async function takeNothing(call: Promise<Outcome<unknown>>): Promise<void> {
  const { error, response } = await call
  if (!response.ok) throw errorOf(error, response)
}

/** The error of a failed response, with the gateway's message if it has one. */
export function errorOf(body: unknown, response: Response): ApiError {
  const { error } = (body ?? {}) as {
    error?: {
      code?: string
      message?: string
      request_id?: string
      problems?: readonly FieldProblem[]
    }
  }
  const requestId = error?.request_id ?? response.headers.get('x-request-id') ?? undefined
  return new ApiError(
    response.status,
    error?.code ?? 'unknown',
    error?.message ?? `The gateway returned status ${response.status}.`,
    requestId,
    error?.problems,
  )
}
