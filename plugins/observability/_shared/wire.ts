import { Type } from 'model-gateway/plugin'

export const tag = 'observability'

export const Text = Type.String()
export const Count = Type.Integer()
export const Usd = Type.String({ description: 'USD, a plain decimal', examples: ['0.000213'] })
