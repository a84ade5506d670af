import type { Execute, RouteSpec } from 'model-gateway/provider'
import { countExecutor } from '../_shared/count-tokens.ts'
import { rawPredictMessages } from '../_shared/messages-dialect.ts'
import { modelEndpoint, type Service } from './endpoint.ts'

/** The token counter of `anthropic/` models has the path of a model, and the model in its body. */
const COUNTER = { publisher: 'anthropic', id: 'count-tokens', embedding: undefined } as const

export function vertexCount(service: Service, model: string, route: RouteSpec): Execute {
  const endpoint = modelEndpoint(service, COUNTER, route).method('rawPredict')
  const { version } = rawPredictMessages
  const body = (prompt: object) => ({ anthropic_version: version, model, ...prompt })
  return countExecutor([{ endpoint, body }], route)
}
