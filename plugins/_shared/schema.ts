import { type TSchema, Type } from 'model-gateway/plugin'

export const Text = Type.String()
export const Count = Type.Integer()

/** Instants as they are told. */
export const Instant = Type.String({ format: 'date-time' })

export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

/** An instant of a row as it is told. */
export const instantText = (at: Date | null): string | null => at?.toISOString() ?? null

/** One of some words; who writes another one is told which there are. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  options: Parameters<typeof Type.Union>[1] = {},
) {
  const errorMessage = `must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    { errorMessage, ...options },
  )
}
