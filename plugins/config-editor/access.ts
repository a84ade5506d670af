import type { Problem } from 'model-gateway/plugin'
import type { ProviderTypeSpec } from 'model-gateway/provider'

/** A vendor of a provider type, with what a form shows about it. */
export interface KnownVendor {
  readonly type: string
  readonly name: string
  /** Variables that may hold its key. */
  readonly keys: readonly string[]
  /** The config field with the address. Without it, calls go to the vendor. */
  readonly address: string
  readonly smallModel: string
  readonly page: string
}

/** A problem of a config with its file. Line and column are counted from 1. */
export interface FileProblem extends Problem {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

/** Access to the config of a running gateway, for the config editor. */
export interface ConfigAccess {
  /** Absolute path of the managed file, which need not exist. */
  readonly file: string
  readonly vendors: readonly KnownVendor[]
  /** Types that the loaded plugins bring. */
  readonly types: readonly ProviderTypeSpec[]
  /** Whether an environment variable has a value. */
  isSet(variable: string): boolean
  /**
   * The current text of the managed file; undefined if it does not exist. Throws an Error for
   * operators.
   */
  read(): string | undefined
  /**
   * The errors and warnings of the config with this text as its managed file, as `gateway
   * check-config` reports them. Rejects with an Error for operators.
   */
  check(text: string | undefined): Promise<readonly FileProblem[]>
  /**
   * Reads and applies the config files, as SIGHUP does. Resolves to the problems if the config was
   * rejected. Rejects with an Error for operators.
   */
  apply(): Promise<readonly FileProblem[]>
}

/** The serving program sets `access` here. */
export interface ConfigHost {
  access?: ConfigAccess
}
