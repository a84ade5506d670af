/** A vendor that can be found from the environment: a gateway that starts without a config adds one provider for each. */
export interface KnownProvider {
  /** The `type` of the provider in the config. */
  readonly type: string
  /** The vendor's name, as people are shown it. */
  readonly name: string
  /** Variables that may hold its key; the first that is set counts. */
  readonly keys: readonly string[]
  /** Other variables that it cannot do without, by config field. */
  readonly needs?: Readonly<Record<string, string>>
  /** The config field of its address, which the variable GATEWAY_<TYPE>_BASE_URL overrides. */
  readonly address: 'base_url' | 'endpoint'
  /** A cheap model for a live check. */
  readonly smallModel: string
  /** The vendor's page on keys or models. */
  readonly page: string
  /** The vendor's id in the price list. */
  readonly pricing?: string
}
