import { Type } from 'model-gateway/plugin'
import { oneOf } from '../../_shared/schema.ts'

export const tag = 'observability'

export const Usd = Type.String({ description: 'USD, a plain decimal', examples: ['0.000213'] })

export const OwnerKind = oneOf(['user', 'service_account'])
