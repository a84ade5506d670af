/**
 * A vendor that the gateway detects from environment variables: without a config, it adds one
 * provider for each.
 */
export interface KnownProvider {
  /** The `type` of the provider in the config. */
  readonly type: string
  /** The vendor's display name. */
  readonly name: string
  /** Variables that may contain the key; the first that is set is used. */
  readonly keys: readonly string[]
  /** Other required variables, by config field. */
  readonly needs?: Readonly<Record<string, string>>
  /** The config field of its base URL, which GATEWAY_<TYPE>_BASE_URL overrides. */
  readonly address: 'base_url' | 'endpoint'
  /** A cheap model for a live check. */
  readonly smallModel: string
  /** The vendor's page on keys or models. */
  readonly page: string
  /** The vendor's id in the price list. */
  readonly pricing?: string
}
