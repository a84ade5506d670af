import type { PackRule } from 'model-gateway/plugin'

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

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Last words of commands that destroy, in any group and release track. */
export const destructiveVerb =
  /^(?:delete|delete-.+|bulk-delete|request-delete|destroy|purge|rm|cleanup)$/
export const iamRemoval = /^remove-iam-policy-binding$/
/** Groups under which `remove` deletes a record. */
export const removingGroups: readonly string[] = ['dns record-sets transaction remove']
export const tracks = words('alpha beta preview')

/**
 * Last words of commands that destroy nothing: what follows them are names and values. None of them
 * is also a group on the way to a destructive command.
 */
export const harmlessVerbs = words(`
  abandon abort accept access acknowledge activate-service-account activate ack add apply approve authorize browse build call cancel cat
  clone commit connect convert copy cp create decrypt demote deny deprecate describe detach diagnose diff
  deidentify dismiss download
  disable drain du edit enable encrypt enforce enroll evaluate execute execute-sql expand explain export failover fetch generate
  get grant import info init insert inspect install instantiate invalidate link lint list load local-run login lookup ls
  mirror modify monitor move mv pause patch perform-maintenance predict promote provision publish pull query read
  reboot recognize recreate redeploy register reimage reject rename render replace replay report reset resize restart restore resume
  revert revoke rollback rotate rsync save scan scp search seek send set show sign-url simulate snapshot ssh start status stop
  stream-logs submit subscribe suspend switch switchover sync tail terminate train troubleshoot undelete undeploy unenroll uninstall unlink unlock unregister
  unset update upgrade upload validate verify wait watch write`)
/** First parts of such words: `get-iam-policy`, `set-target`. */
export const harmlessPrefix =
  /^(?:accept|add|analyze|apply|attach|cancel|check|clone|complete|copy|create|describe|detach|detect|disable|download|enable|export|fetch|generate|get|invalidate|list|load|lookup|mark|modify|move|perform|print|promote|query|raw|recreate|reject|remove|report|reschedule|reset|resume|revoke|search|set|sign|start|stop|stream|suspend|tail|translate|undeploy|update|upload|upsert|validate|wait)-/
/** Harmless after a group, but groups themselves when they come first. */
export const laterVerbs = words('deploy run test')
/** Words that are no group though they come first. */
export const firstVerbs = words('cheat-sheet docker feedback help info init survey topic version')

/** Options that every command understands, with a value. */
export const globalValues = [
  ...words(`access-token-file account billing-project configuration filter flags-file flatten format
    impersonate-service-account project trace-token verbosity`),
]
export const globalFlags = [...words('help log-http quiet user-output-enabled version')]

/** Options that make a harmless command delete. */
export const deletingOptions = ['--delete-unmatched-destination-objects', '--delete-all-existing']

export const gsutilRemovals = words(
  'del delete deletebucket remove removebucket removebuckets rb rm rmdir',
)

/** Words that tell one of the provider's servers. */
export const serverWords = words(
  'bigquery cloudrun cloudsql firestore gcloud gcp gcs gke google_cloud googlecloud gsutil pubsub spanner',
)
export const toolVerbs = words('delete destroy purge rm rb remove')
export const toolPhrases = ['remove_iam_policy_binding', 'bulk_delete']
