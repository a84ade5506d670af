import { queryOptions } from '@tanstack/react-query'
import { ApiError } from '@/api/client.ts'
import { type Data, get, keyOf, queryClient } from '@/api/query.ts'

export type User = Data<'/api/v1/auth/session'>['user']

const path = '/api/v1/auth/session'

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions<User | null>({
  queryKey: keyOf(path),
  staleTime: Number.POSITIVE_INFINITY,
  async queryFn({ signal }) {
    try {
      return (await get(path, {}, signal)).user
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null
      throw error
    }
  },
})

/** From now on this user is signed in; nothing that another one saw stays. */
export function signedIn(user: User): void {
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, user)
}

export function signedOut(): void {
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, null)
}
