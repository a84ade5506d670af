import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '@/api/client.ts'
import { type Data, get, keyOf, onExpired, queryClient } from '@/api/query.ts'
import { createStore } from '@/lib/store.ts'

export type User = Data<'/api/v1/auth/session'>['user']

const path = '/api/v1/auth/session'

/** Whether the session expired while the user had a page open. */
export const ended = createStore(false)
onExpired(() => ended.set(true))

/**
 * The signed-in user; null: not signed in. After an expiry it stays the last user, so that the page
 * keeps unsaved input.
 */
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

/** Continues with a new session of the same user: keeps the page and refetches its data. */
export function wentOn(user: User): void {
  queryClient.setQueryData(sessionQuery.queryKey, user)
  ended.set(false)
  void queryClient.invalidateQueries()
}

/** Sets the signed-in user and clears all data of the previous one; null: signed out. */
export function signedIn(user: User | null): void {
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, user)
  ended.set(false)
}
