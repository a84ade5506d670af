import createClient from 'openapi-fetch'
import type { paths } from '@/api/schema.ts'
import { lost } from '@/lib/connection.ts'

/** What is wrong with a part of what was sent. */
export interface FieldProblem {
  /** Path within what was sent; null or absent: it is elsewhere. */
  readonly field?: string | null
  readonly message: string
  readonly hint?: string | null
}

/** A call that failed: with the gateway's own words, or with those of a connection that broke. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0: the gateway could not be reached. */
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

/** Calls of the control plane, typed by its document. Give the result to `take`. */
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

/** The `data` of an answer; throws ApiError. */
export async function take<T>(call: Promise<Outcome<{ data: T }>>): Promise<T> {
  const { data, error, response } = await call
  if (data === undefined) throw errorOf(error, response)
  return data.data
}

/** As `take`, of an answer without a body. */
export async function takeNothing(call: Promise<Outcome<unknown>>): Promise<void> {
  const { error, response } = await call
  if (!response.ok) throw errorOf(error, response)
}

/** Why an answer is none, in the gateway's words where it has them. */
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
    error?.message ?? `The gateway answered with status ${response.status}.`,
    requestId,
    error?.problems,
  )
}
