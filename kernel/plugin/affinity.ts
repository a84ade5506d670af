/** What ties a request to earlier ones. */
export interface Ties {
  /** State that an upstream keeps and the request names: it has to go to the provider that made it. */
  readonly state: readonly StateReference[]
  /** What all requests of a conversation begin with; undefined where it cannot be told. */
  readonly head: string | undefined
  /** Whether it is known not to be the first of its conversation. */
  readonly continues: boolean
}

/** The name of a member, and the id in it, or a text that only who made it can read. */
export interface StateReference {
  readonly member: string
  readonly id: string
}

/**
 * Remembers, for all replicas, by the id of which provider state is kept, and by the id of which route
 * conversations were answered.
 */
export interface Affinity {
  /** What was noted. Undefined for what is not known, and while the store is away. Never rejects. */
  find(key: string): string | undefined | Promise<string | undefined>
  /** What is known already stays as it is. */
  note(keys: readonly string[], id: string): void
}
