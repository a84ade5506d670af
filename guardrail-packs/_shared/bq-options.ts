import type { OptionTable } from './command-options.ts'
import { wordList } from './word-lists.ts'

/** The options of bq, before and after its command. */
export const bqOptions: OptionTable = {
  short: 'ns',
  eitherDash: true,
  values: wordList(`
    api api_version apilog bigqueryrc ca_certificates_file clustering_fields connection_property
    credential_file dataset_id destination_kms_key destination_schema destination_table discovery_file
    display_name external_table_definition flagfile format job_id job_timeout_ms label location max_results
    max_rows_per_request maximum_bytes_billed min_completion_ratio parameter project_id proxy_address
    proxy_password proxy_port proxy_username range_partitioning reservation_id schedule schedule_end_time
    schedule_start_time schema_update_option service_account service_account_credential_file
    service_account_private_key_file session_id start_row target_dataset time_partitioning_expiration
    time_partitioning_field time_partitioning_type trace udf_resource
  `),
  flags: wordList(`
    quiet headless batch dry_run nodry_run use_legacy_sql nouse_legacy_sql use_cache nouse_cache
    replace append_table allow_large_results require_cache synchronous_mode rpc debug_mode help
  `),
}
