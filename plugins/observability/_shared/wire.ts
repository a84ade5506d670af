import { type TSchema, Type } from 'model-gateway/plugin'

export const tag = 'observability'

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const Text = Type.String()
export const Count = Type.Integer()
export const Instant = Type.String({ format: 'date-time' })
export const Usd = Type.String({ description: 'USD, a plain decimal', examples: ['0.000213'] })
