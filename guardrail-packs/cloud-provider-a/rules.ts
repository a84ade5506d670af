import type { PackRule } from 'model-gateway/guardrail'
import { wordList, wordSet } from '../_shared/word-lists.ts'

const back = 'Look at it with describe or list, and ask a person to remove it.'

export const rules: readonly PackRule[] = [
  {
    id: 'delete',
    reasonCode: 'cloud_a.destructive_operation',
    description: 'Deletes, destroys or purges something in the cloud.',
    saferAction: back,
  },
  {
    id: 'iam-binding',
    reasonCode: 'cloud_a.iam_removal',
    description: 'Takes a role away from someone.',
    saferAction: 'Show the policy with get-iam-policy, and ask a person to change it.',
  },
  {
    id: 'storage',
    reasonCode: 'cloud_a.storage_removal',
    description: 'Removes objects or a bucket.',
    saferAction: 'List the objects, or try it as a dry run.',
  },
  {
    id: 'dataset',
    reasonCode: 'cloud_a.dataset_removal',
    description: 'Removes or empties a dataset, table or other part of the warehouse.',
    saferAction: 'Show it first, and ask a person to remove it.',
  },
  {
    id: 'query',
    reasonCode: 'cloud_a.destructive_query',
    description: 'Runs SQL that drops, empties or changes everything.',
    saferAction: 'Run it as a SELECT first, and name the rows in a WHERE.',
  },
  {
    id: 'file-input',
    reasonCode: 'command.uninspectable',
    description: 'Takes SQL from a file, where it cannot be read.',
    saferAction: 'Pass the statement itself on the command line.',
  },
  {
    id: 'unknown-operation',
    reasonCode: 'command.uninspectable',
    description: 'The operation or its input is only known when it runs.',
    saferAction: 'Write the operation out.',
  },
  {
    id: 'tool',
    reasonCode: 'cloud_a.destructive_tool',
    description: 'Calls a tool that deletes, destroys or purges something in the cloud.',
    saferAction: back,
  },
]

/** Last words of destructive commands, in any group and release track. */
export const destructiveVerb =
  /^(?:delete|delete-.+|bulk-delete|request-delete|destroy|purge|rm|cleanup)$/
export const iamRemoval = /^remove-(?:iam|invoker)-policy-binding$/
/** Groups where `remove` deletes a record; elsewhere it removes from a list. */
export const removingPaths: ReadonlySet<string> = new Set(['dns record-sets transaction remove'])
export const tracks = wordSet('alpha beta preview')

/**
 * Last words of harmless commands: names and values follow. None of them is also a group with a
 * destructive command.
 */
export const harmlessVerbs = wordSet(`
  abandon abandon-instances abort accept access ack ack-up-to acknowledge activate activate-service-account
  add advance allow analyze apply approve assign auth-info authorize backup browse buffer bug-report build
  bulk-export bulk-mute call cancel cat cli clone commit compose config-ssh configure connect
  connect-to-serial-port convert copy cp create database-failover decrypt deidentify demote demote-destination
  deny deploy-index deploy-model deprecate describe detach dev diagnose diff disable discover dismiss download
  drain du edit enable encrypt enforce enroll establish-peering evaluate execute execute-sql expand
  expand-ip-range explain export extend-schema extract failover fetch finalize gen-config generate get grant
  group hash ignore-job import import-data import-rules import-statefile info init inject-fault insert inspect
  install install-status instantiate instantiate-from-file invalidate kill lease link lint lint-condition list
  load local-run lock log login lookup ls migrate mirror modify monitor move mutate-deployed-index mv
  open-console os-upgrade patch patch-partner-metadata pause perform-maintenance predict preview promote
  provision proxy proxy-config proxy-status publish pull query read reboot recognize recreate redact redeploy
  reencrypt register reimage reinstall reject release-ssrs-lease relocate remove rename render reorder repair
  replace replace-all replay replicate report rerun reset resize resize-disk resolve restart restore
  restore-backup resume reverse revert revoke rollback rotate rsync save scan scp search seed seek send set
  show sign-url simulate snapshot ssh star start status stop stream-logs submit subscribe suggest-crop suspend
  switch switchover sync tail terminate train troubleshoot undelete undeploy unenroll uninstall unlink unlock
  unmanage unregister unset unstar untag update upgrade upload validate verify vet wait watch write`)
/** Prefixes of such words: `get-iam-policy`, `set-target`. */
export const harmlessPrefix =
  /^(?:accept|acquire|add|analyze|apply|assign|asymmetric|attach|cancel|change|check|classify|clone|complete|configure|copy|create|describe|detach|detect|direct|disable|download|enable|evaluate|export|fetch|find|generate|get|initiate|invalidate|is|lint|list|load|lookup|mac|mark|migrate|modify|move|perform|print|promote|publish|query|raw|recognize|recreate|reject|remove|renew|replay|report|reschedule|reset|restart|resume|retry|revoke|run|sanitize|search|send|set|show|sign|simulate|start|stop|stream|suspend|tail|test|translate|trigger|troubleshoot|undeploy|update|upload|upsert|validate|wait)-/
/** Harmless after a group, but groups if they come first. */
export const laterVerbs = wordSet('deploy run test')
/** Words that are not a group though they come first. */
export const firstVerbs = wordSet('cheat-sheet docker feedback help info init survey topic version')

/** Options of each command, with a value. */
export const globalValues = wordList(`
  access-token-file account billing-project configuration filter flags-file flatten format
  impersonate-service-account project trace-token verbosity
`)
/** Options of most commands that may precede the verb, with a value. */
export const placeValues = wordSet('location region zone')
export const globalFlags = wordList('help log-http quiet user-output-enabled version')

/** Options that make a harmless command delete. */
export const deletingOptions = ['--delete-unmatched-destination-objects', '--delete-all-existing']

export const gsutilRemovals = wordSet(
  'del delete deletebucket remove removebucket removebuckets rb rm rmdir',
)

/** Words in the names of the provider's servers. */
export const serverWords = wordSet(
  `alloydb bigquery bigtable cloudrun cloudsql dataproc firestore gcloud gcp gcs gke googlecloud gsutil pubsub
  spanner vertexai`,
)
/** Pairs of such words, at any position. */
export const serverPairs: readonly (readonly [string, string])[] = [
  ['google', 'cloud'],
  ['cloud', 'run'],
  ['cloud', 'sql'],
  ['compute', 'engine'],
  ['vertex', 'ai'],
]
export const toolVerbs = wordSet('delete destroy purge rm rb remove')
export const toolPhrases = ['remove_iam_policy_binding', 'bulk_delete']
