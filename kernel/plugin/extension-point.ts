import { Kind, KindGuard, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import type { Plugin } from './plugin.ts'

/** What a point asks of its implementations; checked when a plugin provides one. */
export interface PointRules<T> {
  /** What messages call an implementation: `middleware`. */
  readonly what?: string
  /** The member that names an implementation: `id`. */
  readonly key?: string
  /** What an implementation looks like. Inherited members count: it may be an instance of a class. */
  readonly shape?: TSchema
  /** What the shape cannot say, such as `mount must be like /pages`; `undefined`: nothing is wrong. */
  fault?(implementation: T): string | undefined
  /** Names that one implementation alone may have, as a message says them: `GET /things`. */
  claims?(implementation: T): readonly string[]
  /** Present: manifests declare what is provided here, so that configs can be checked. */
  readonly declared?: DeclarationRules
}

export interface DeclarationRules {
  /**
   * The shape of what a manifest says of one; the member `key` is the same as of the implementation, and
   * `aliases`, if any, are other names of it.
   */
  readonly spec: TSchema
  /** Where manifests say it; absent: in `declares`. */
  specs?(manifest: Plugin['manifest']): readonly object[]
}

/** In a manifest: `setup` provides at this point what the spec describes. */
export interface Declaration {
  readonly point: ExtensionPoint<unknown>
  readonly spec: object
}

/** What a declaration, or an implementation, is called. */
export function nameAt({ key = '' }: ExtensionPoint<unknown>, named: object): string {
  return String((named as Record<string, unknown>)[key])
}

type Cardinality = 'one' | 'many'

/**
 * A place where plugins register their implementations.
 *
 * @example export const quota: ExtensionPoint<Quota, 'one'> = extensionPoint('quota', 'one')
 */
export interface ExtensionPoint<T, N extends Cardinality = Cardinality> extends PointRules<T> {
  readonly name: string
  /** `one`: exactly one implementation may be registered. */
  readonly cardinality: N
  /** Phantom, so that implementations are checked against their point. */
  readonly implementation?: T
}

/**
 * Defines a point; export it for the plugins that provide something there.
 *
 * @example
 * export const quota = extensionPoint<Quota>('quota', 'one', {
 *   shape: Type.Object({ of: Shape.method() }),
 * })
 */
export function extensionPoint<T>(
  name: string,
  cardinality: 'one',
  rules?: PointRules<T>,
): ExtensionPoint<T, 'one'>
export function extensionPoint<T>(
  name: string,
  cardinality: 'many',
  rules?: PointRules<T>,
): ExtensionPoint<T, 'many'>
export function extensionPoint<T>(
  name: string,
  cardinality: Cardinality,
  rules: PointRules<T> = {},
): ExtensionPoint<T> {
  return { name, cardinality, ...rules }
}

/** A point for one that a plugin can do without. */
export interface OptionalPoint<T> {
  readonly optional: ExtensionPoint<T, 'one'>
}

/**
 * In `uses` of a manifest: the plugin works without an implementation, too.
 *
 * @example uses: { prices: optional(pricingSource) }
 */
export function optional<T>(point: ExtensionPoint<T, 'one'>): OptionalPoint<T> {
  return { optional: point }
}

/** A point for many, whose providers are told apart. */
export interface NamedPoint<T> {
  readonly named: ExtensionPoint<T, 'many'>
}

/** What a plugin provides, with its id. */
export interface Provided<T> {
  readonly plugin: string
  readonly implementation: T
}

/**
 * In `uses` of a manifest: each implementation comes with the plugin that provides it.
 *
 * @example uses: { sinks: named(accountingSinks) }
 */
export function named<T>(point: ExtensionPoint<T, 'many'>): NamedPoint<T> {
  return { named: point }
}

// biome-ignore lint/suspicious/noExplicitAny: each point has its own type of implementation
type AnyUse = ExtensionPoint<any> | OptionalPoint<any> | NamedPoint<any>
/** The points that a plugin uses, by names of its own. */
export type Uses = Readonly<Record<string, AnyUse>>

/** What `setup` is handed for them. */
export type Used<U extends Uses> = {
  readonly [K in keyof U]: U[K] extends OptionalPoint<infer T>
    ? () => T | undefined
    : U[K] extends NamedPoint<infer T>
      ? () => readonly Provided<T>[]
      : U[K] extends ExtensionPoint<infer T, 'one'>
        ? () => T
        : U[K] extends ExtensionPoint<infer T>
          ? () => readonly T[]
          : never
}

/** The points that a plugin cannot work without. */
export function requiredPoints(uses: Uses): readonly ExtensionPoint<unknown>[] {
  return Object.values(uses).filter(
    (used): used is ExtensionPoint<unknown> => 'cardinality' in used && used.cardinality === 'one',
  )
}

const SCHEMA = 'ModelGatewaySchema'
TypeRegistry.Set<TSchema>(SCHEMA, ({ object }, value) =>
  object === true ? KindGuard.IsObject(value) : KindGuard.IsSchema(value),
)

/**
 * Parts of shapes, beside those of `Type`. The description of a schema says what messages ask for.
 *
 * @example
 * const shape = Type.Object({ mode: Shape.oneOf(['a', 'b']), headers: Shape.method() })
 */
export const Shape = {
  method: () => Type.Function([], Type.Unknown()),
  /** Not empty. */
  text: () => Type.String({ minLength: 1, description: 'a non-empty string' }),
  oneOf: (words: readonly string[]) =>
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { description: `one of ${words.join(', ')}` },
    ),
  /** A schema of TypeBox. */
  schema: () =>
    Type.Unsafe<TSchema>({
      [Kind]: SCHEMA,
      description: 'a schema made with strictObject or Type',
    }),
  objectSchema: () =>
    Type.Unsafe<TSchema>({
      [Kind]: SCHEMA,
      object: true,
      description: 'an object schema made with strictObject or Type.Object',
    }),
}
