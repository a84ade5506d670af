import { Type } from 'model-gateway/plugin'

export const tag = 'observability'

export const Usd = Type.String({ description: 'USD, a plain decimal', examples: ['0.000213'] })
