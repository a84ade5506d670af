import type { Disposer } from './plugin.ts'

export type Owner =
  | {
      readonly kind: 'user'
      readonly userId: string
      readonly email: string
      readonly name: string
      /** The team whose key applies in model allowlists. */
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

/** The caller, and what the key and its owner may use. */
export interface Principal {
  readonly apiKeyId: string
  readonly owner: Owner
  /** `user:<user_id>` or `service_account:<service_account_id>` */
  readonly ownershipScopeKey: string
  /** Models granted to the key. */
  readonly grants: 'all' | ReadonlySet<string>
  /** Allowlists of the owner and its team; a model must be in each of them. */
  readonly allowlists: readonly ReadonlySet<string>[]
  /** Keys of the MCP servers that the key may use; undefined: all. */
  readonly mcpServers?: ReadonlySet<string> | undefined
}

/** All possible owners of calls, including disabled ones. */
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

/** The request that presents a key. */
export interface KeyShown {
  readonly requestId: string
  header(name: string): string | null
  /** The client address, if known. */
  address?(): string | undefined
}

/** Identifies callers, from memory. */
export interface Identity {
  /** Reads all keys and owners from the database. */
  directory(): Promise<Directory>
  /** Calls `changed` after any change of keys or owners on any replica, until disposed. */
  onChange(changed: () => void): Disposer
  /**
   * Returns the owner of a raw key such as `gwk_….…`. Throws GatewayError with an authentication
   * code, or `store_unavailable` if the data in memory is too old. With `shown`, the refusal of an
   * existing key is written to the audit log.
   */
  authenticate(rawKey: string, shown?: KeyShown): Principal | Promise<Principal>
  /**
   * Returns the owner of a key by its id or public id, without its secret, for operators. Throws as
   * `authenticate` does if the key may not be used.
   */
  lookUp?(name: string): Principal | undefined
}
