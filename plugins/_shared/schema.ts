import { type TSchema, Type } from 'model-gateway/plugin'

/** Instants as they are told. */
export const Instant = Type.String({ format: 'date-time' })

export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
