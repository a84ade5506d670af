import { type Static, Type } from 'model-gateway/plugin'
import entries from './recommended.json' with { type: 'json' }

export const RecommendedServer = Type.Object({
  recommended_catalog_key: Type.String(),
  server_key: Type.String(),
  display_name: Type.String(),
  description: Type.String(),
  server_url: Type.String(),
  auth_mode: Type.String(),
  auth_config: Type.Record(Type.String(), Type.Unknown()),
  documentation_url: Type.String(),
})
export type RecommendedServer = Static<typeof RecommendedServer>

/** Suggestions for new servers; not registered by default. */
export const recommendedServers: readonly RecommendedServer[] = entries
