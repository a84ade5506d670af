import type { TObject } from '@sinclair/typebox'
import { GatewayError, type Static, type TSchema, Type } from 'model-gateway/plugin'

export const Text = Type.String()
export const Count = Type.Integer()

/** Instants as they are told. */
export const Instant = Type.String({ format: 'date-time' })

export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description })

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

/** What a row must have for a view: its members, instants as dates. */
type RowOf<View> = {
  readonly [Name in keyof View]: string extends View[Name] ? View[Name] | Date : View[Name]
}

/** What a view shows of a row. */
export function asView<View extends TObject>(view: View, row: RowOf<Static<View>>): Static<View> {
  const members = Object.keys(view.properties).map((name) => {
    const value = row[name as keyof typeof row] as unknown
    return [name, value instanceof Date ? value.toISOString() : value]
  })
  return Object.fromEntries(members)
}

/** A body that has the right shape and still cannot be. `path` as in `/team/team_id`. */
export function invalidBody(path: string, message: string): GatewayError {
  return new GatewayError('validation_failed', `${path}: ${message}`, {
    details: { problems: [{ path, message }] },
  })
}
