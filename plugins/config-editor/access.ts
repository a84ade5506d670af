import type { Problem } from 'model-gateway/plugin'
import type { ProviderTypeSpec } from 'model-gateway/provider'

/** A vendor that providers of a type call: what a form can tell people of it. */
export interface KnownVendor {
  readonly type: string
  readonly name: string
  /** Variables that may hold its key. */
  readonly keys: readonly string[]
  /** The config field of its address. Left out, calls go to the vendor. */
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

/** The config of a gateway that serves, for what changes its managed file. */
export interface ConfigAccess {
  /** Absolute path of the managed file, which need not exist. */
  readonly file: string
  readonly vendors: readonly KnownVendor[]
  /** Types that the loaded plugins bring. */
  readonly types: readonly ProviderTypeSpec[]
  /** Whether an environment variable has a value. */
  isSet(variable: string): boolean
  /** The text of the managed file now; absent: there is none. Throws an Error for operators. */
  read(): string | undefined
  /**
   * The problems, errors and warnings, that the config has with this text as its managed file, as
   * `gateway check-config` reports them. Rejects with an Error for operators.
   */
  check(text: string | undefined): Promise<readonly FileProblem[]>
  /**
   * Reads the files and puts them into force, as SIGHUP does. Resolves to the problems for which they
   * were refused. Rejects with an Error for operators.
   */
  apply(): Promise<readonly FileProblem[]>
}

/** Where the program that serves puts the access. */
export interface ConfigHost {
  access?: ConfigAccess
}
