import type { Disposer } from './plugin.ts'

export type Owner =
  | {
      readonly kind: 'user'
      readonly userId: string
      readonly email: string
      readonly name: string
      /** The team whose key counts in model allowlists. */
      readonly team: { readonly id: string; readonly key: string } | undefined
      readonly requestLoggingEnabled: boolean
    }
  | {
      readonly kind: 'service_account'
      readonly serviceAccountId: string
      readonly key: string
      readonly name: string
      readonly team: { readonly id: string; readonly key: string }
    }

/** Who is calling, and what the key and its owner may use. */
export interface Principal {
  readonly apiKeyId: string
  readonly owner: Owner
  /** `user:<user_id>` or `service_account:<service_account_id>` */
  readonly ownershipScopeKey: string
  /** Models that the key is granted. */
  readonly grants: 'all' | ReadonlySet<string>
  /** Principal-centric allowlists of the owner and its team; a model must be in each of them. */
  readonly allowlists: readonly ReadonlySet<string>[]
  /** Keys of the MCP servers that the key may use; undefined: all of them. */
  readonly mcpServers?: ReadonlySet<string> | undefined
}

/** Everybody who can own a call, disabled owners included. */
export interface Directory {
  readonly users: readonly {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly status: 'active' | 'invited' | 'disabled'
    readonly team: { readonly id: string; readonly role: 'owner' | 'admin' | 'member' } | undefined
  }[]
  readonly serviceAccounts: readonly {
    readonly id: string
    readonly key: string
    readonly name: string
    readonly teamId: string
  }[]
}

/** The request that a key comes with. */
export interface KeyShown {
  readonly requestId: string
  header(name: string): string | null
  /** Where it comes from; absent where that is not known. */
  address?(): string | undefined
}

/** Knows every key and its owner from memory. */
export interface Identity {
  /** Reads it from the database. */
  directory(): Promise<Directory>
  /** Calls `changed`, until it is disposed, after anything about keys or owners has changed anywhere. */
  onChange(changed: () => void): Disposer
  /**
   * The owner of a raw key such as `gwk_….…`. Throws GatewayError with an authentication code,
   * or `store_unavailable` when what it knows is too old to be trusted. With `shown`, the refusal of a
   * key that exists is noted in the audit log.
   */
  authenticate(rawKey: string, shown?: KeyShown): Principal | Promise<Principal>
  /**
   * The owner of a key by the key's id or public id, without its secret: for operators who ask what
   * a key may do. Throws as `authenticate` does for a key that may not be used.
   */
  lookUp?(name: string): Principal | undefined
}
