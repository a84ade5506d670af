import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '@/api/client.ts'
import { type Data, get, keyOf, onExpired, queryClient } from '@/api/query.ts'
import { createStore } from '@/lib/store.ts'

export type User = Data<'/api/v1/auth/session'>['user']

const path = '/api/v1/auth/session'

/** Whether the session has ended while its user was at work. */
export const ended = createStore(false)
onExpired(() => ended.set(true))

/** Who is signed in, or was and has work on the page; null: nobody. */
export const sessionQuery = queryOptions<User | null>({
  queryKey: keyOf(path),
  staleTime: Number.POSITIVE_INFINITY,
  async queryFn({ signal }) {
    try {
      return (await get(path, {}, signal)).user
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      const atWork = queryClient.getQueryData<User | null>(keyOf(path)) ?? null
      if (atWork !== null) ended.set(true)
      return atWork
    }
  },
})

/** The user goes on with a session of today; what is on the page stays, and is read again. */
export function wentOn(user: User): void {
  queryClient.setQueryData(sessionQuery.queryKey, user)
  ended.set(false)
  void queryClient.invalidateQueries()
}

/** From now on this user is signed in, or nobody; nothing that another one saw stays. */
export function signedIn(user: User | null): void {
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, user)
  ended.set(false)
}
