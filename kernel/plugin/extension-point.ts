import { Kind, KindGuard, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'
import type { Plugin } from './plugin.ts'

/** The rules of a point for implementations; checked when a plugin provides one. */
export interface PointRules<T> {
  /** The kind of implementation in messages: `middleware`. */
  readonly what?: string
  /** The member with the name of an implementation: `id`. */
  readonly key?: string
  /** The shape of an implementation. Inherited members count, so it may be a class instance. */
  readonly shape?: TSchema
  /** Returns a fault that the shape cannot express, such as `mount must be like /pages`. */
  fault?(implementation: T): string | undefined
  /** Names that only one implementation may claim, as shown in messages: `GET /things`. */
  claims?(implementation: T): readonly string[]
  /** Set if manifests declare implementations, so that configs can be checked. */
  readonly declared?: DeclarationRules
}

export interface DeclarationRules {
  /**
   * The shape of a declaration. Its member `key` equals that of the implementation; `aliases`, if
   * any, are other names.
   */
  readonly spec: TSchema
  /** Where manifests declare it; absent: in `declares`. */
  specs?(manifest: Plugin['manifest']): readonly object[]
}

/** In a manifest: `setup` provides the implementation of this spec at the point. */
export interface Declaration {
  readonly point: ExtensionPoint<unknown>
  readonly spec: object
}

/** The name of a declaration or implementation. */
export function nameAt({ key = '' }: ExtensionPoint<unknown>, named: object): string {
  return String((named as Record<string, unknown>)[key])
}

type Cardinality = 'one' | 'many'

/**
 * A point where plugins register implementations.
 *
 * @example export const quota: ExtensionPoint<Quota, 'one'> = extensionPoint('quota', 'one')
 */
export interface ExtensionPoint<T, N extends Cardinality = Cardinality> extends PointRules<T> {
  readonly name: string
  /** `one`: only one implementation may be registered. */
  readonly cardinality: N
  /** Type only: ties implementations to their point. */
  readonly implementation?: T
}

/**
 * Defines an extension point; export it for plugins that provide implementations.
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

/** A point with one implementation that is optional for the plugin. */
export interface OptionalPoint<T> {
  readonly optional: ExtensionPoint<T, 'one'>
}

/**
 * For `uses` of a manifest: the plugin also works without an implementation.
 *
 * @example uses: { prices: optional(pricingSource) }
 */
export function optional<T>(point: ExtensionPoint<T, 'one'>): OptionalPoint<T> {
  return { optional: point }
}

/** A point with many implementations, each with its plugin. */
export interface NamedPoint<T> {
  readonly named: ExtensionPoint<T, 'many'>
}

/** An implementation and the id of its plugin. */
export interface Provided<T> {
  readonly plugin: string
  readonly implementation: T
}

/**
 * For `uses` of a manifest: gives each implementation together with its plugin.
 *
 * @example uses: { sinks: named(accountingSinks) }
 */
export function named<T>(point: ExtensionPoint<T, 'many'>): NamedPoint<T> {
  return { named: point }
}

// biome-ignore lint/suspicious/noExplicitAny: each point has its own type of implementation
type AnyUse = ExtensionPoint<any> | OptionalPoint<any> | NamedPoint<any>
/** The points that a plugin uses, by names that it chooses. */
export type Uses = Readonly<Record<string, AnyUse>>

/** The functions that `setup` receives for them. */
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

/** The points in `uses` that are not optional. */
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
 * Helpers for shapes, in addition to `Type`. The description of a schema is what messages ask for.
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
