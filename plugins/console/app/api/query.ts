import {
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
  type UseQueryOptions,
  useQuery,
} from '@tanstack/react-query'
import { ApiError, api, take } from '@/api/client.ts'
import type { paths } from '@/api/schema.ts'
import { onReturn } from '@/lib/connection.ts'

type Answer<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': { data: infer D } } } } }
}
  ? D
  : never

/** Paths of the admin API that answer a GET with JSON. */
export type GetPath = { [P in keyof paths]: [Answer<P>] extends [never] ? never : P }[keyof paths]

/** The type of `data` in a path's response: `Data<'/api/v1/admin/overview'>`. */
export type Data<P extends GetPath> = Answer<P>

type Parameters<P extends GetPath> = paths[P] extends { get: { parameters: infer T } } ? T : never
type Query<P extends GetPath> = Parameters<P> extends { query?: infer Q } ? NonNullable<Q> : never
type Path<P extends GetPath> = Parameters<P> extends { path: infer T } ? T : never

/** Query and path parameters; query parameters that are `undefined` or '' are left out. */
export type GetOptions<P extends GetPath> = {
  readonly query?: { [K in keyof Query<P>]?: Query<P>[K] | '' | undefined }
} & ([Path<P>] extends [never] ? { readonly path?: never } : { readonly path: Path<P> })

type Extra<D> = Pick<
  UseQueryOptions<D, Error>,
  'enabled' | 'refetchInterval' | 'staleTime' | 'placeholderData'
>

/** The cache key of a response; a path alone matches all responses of the path. */
export function keyOf<P extends GetPath>(path: P, options?: GetOptions<P>): readonly unknown[] {
  return options === undefined ? [path] : [path, options.path ?? null, options.query ?? null]
}

/** One GET outside a component. */
export function get<P extends GetPath>(
  path: P,
  options: GetOptions<P>,
  signal?: AbortSignal,
): Promise<Data<P>> {
  const query = Object.fromEntries(
    Object.entries(options.query ?? {}).filter(([, value]) => value !== undefined && value !== ''),
  )
  // The types above check the parameters; openapi-fetch cannot infer them from a type parameter.
  const call = api.GET as (
    path: string,
    init: object,
  ) => Promise<{ data?: { data: Data<P> }; error?: unknown; response: Response }>
  return take(call(path, { params: { query, path: options.path }, ...(signal && { signal }) }))
}

/** A GET in a component: cached, retried on 502 and above, refetched after a reconnect. */
export function useGet<P extends GetPath>(
  path: P,
  options: GetOptions<P>,
  extra: Extra<Data<P>> = {},
) {
  return useQuery<Data<P>, Error>({
    queryKey: keyOf(path, options),
    queryFn: ({ signal }) => get(path, options, signal),
    ...extra,
  })
}

const LARGEST_PAGE = 200

interface Listed {
  readonly items: readonly unknown[]
  readonly total: number
}

/**
 * Lists that the console searches itself, because their API has no search. They are short enough,
 * because operators write them by hand.
 */
type WholePath =
  | '/api/v1/admin/models'
  | '/api/v1/admin/providers'
  | '/api/v1/admin/mcp/servers'
  | '/api/v1/admin/mcp/servers/{server_id}/tools'

/** As `useGet`, with the items of all pages. */
export function useAll<P extends WholePath>(
  path: P,
  options: GetOptions<P>,
  extra: Extra<Data<P>> = {},
) {
  return useQuery<Data<P>, Error>({
    queryKey: [path, 'all', options],
    queryFn: async ({ signal }) => {
      const ask = async (page: number) => {
        const query = { ...options.query, page, page_size: LARGEST_PAGE }
        return (await get(path, { ...options, query }, signal)) as Data<P> & Listed
      }
      const first = await ask(1)
      const others = Math.max(0, Math.ceil(first.total / LARGEST_PAGE) - 1)
      const rest = await Promise.all(Array.from({ length: others }, (_, n) => ask(n + 2)))
      return { ...first, items: [first, ...rest].flatMap(({ items }) => items) }
    },
    ...extra,
  })
}

/** Refetches all responses of these paths. */
export async function invalidate(...paths: readonly GetPath[]): Promise<void> {
  await Promise.all(paths.map((path) => queryClient.invalidateQueries({ queryKey: keyOf(path) })))
}

let expired = () => {}

/** Sets what to do when a call fails because the session has expired. */
export function onExpired(action: () => void): void {
  expired = action
}

/** Handles, for queries and mutations alike, an expired session and a user who has lost a role. */
function noticeExpired(error: unknown): void {
  if (!(error instanceof ApiError)) return
  if (error.code === 'session_required') expired()
  if (error.code === 'insufficient_privileges') void invalidate('/api/v1/auth/session')
}

// Notify at once: until a form is marked as pending, a second click would submit it again.
notifyManager.setScheduler(queueMicrotask)

const MOST_RETRIES = 2

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeExpired }),
  mutationCache: new MutationCache({
    // Every change adds an entry there.
    onSuccess() {
      void invalidate('/api/v1/admin/audit-log')
    },
  }),
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) =>
        failures < MOST_RETRIES && error instanceof ApiError && error.status >= 502,
      refetchOnWindowFocus: true,
    },
    mutations: { networkMode: 'always', retry: false, onError: noticeExpired },
  },
})

onReturn(() => void queryClient.invalidateQueries())
