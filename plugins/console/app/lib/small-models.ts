import { useMemo } from 'react'
import { useAll, useGet } from '@/api/query.ts'

/** A cheap model for each provider, by provider key; missing if the vendor is unknown. */
export function useSmallModels(): ReadonlyMap<string, string> {
  const { data: types } = useGet('/api/v1/admin/provider-types', {})
  const { data: providers } = useAll('/api/v1/admin/providers', {})
  return useMemo(() => {
    const byType = new Map(types?.items.map(({ type, small_model }) => [type, small_model]))
    const found = (providers?.items ?? []).flatMap(({ provider_key, type }) => {
      const small = byType.get(type)
      return small ? [[provider_key, small] as const] : []
    })
    return new Map(found)
  }, [types, providers])
}
