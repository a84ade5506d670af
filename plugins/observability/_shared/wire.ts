import { Type } from 'model-gateway/plugin'

export const tag = 'observability'

export const Usd = Type.String({ description: 'USD, a plain decimal', examples: ['0.000213'] })

export const OwnerKind = Type.Union([Type.Literal('user'), Type.Literal('service_account')])
