import type { PackRule } from 'model-gateway/guardrail'
import { wordSet } from '../_shared/word-lists.ts'

const back = 'Look at it with a describe, list or get call, and ask a person to remove it.'
const inline = 'Pass the statement or batch itself on the command line, so that it can be read.'

export const rules: readonly PackRule[] = [
  {
    id: 'operation',
    reasonCode: 'cloud_b.destructive_operation',
    description: 'Deletes, terminates, deregisters or purges something in the cloud.',
    saferAction: back,
  },
  {
    id: 's3',
    reasonCode: 'cloud_b.storage_removal',
    description: 'Removes objects or a bucket.',
    saferAction: 'List the objects, or try it with --dryrun.',
  },
  {
    id: 'batch',
    reasonCode: 'cloud_b.destructive_batch',
    description: 'Sends a batch that deletes entries.',
    saferAction: 'Send the batch without its deletions, and ask a person for those.',
  },
  {
    id: 'query',
    reasonCode: 'cloud_b.destructive_query',
    description: 'Runs a query that drops, empties or changes everything.',
    saferAction: 'Run it as a SELECT first, and name the rows in a WHERE.',
  },
  {
    id: 'file-input',
    reasonCode: 'command.uninspectable',
    description: 'Takes a statement or batch from a file, where it cannot be read.',
    saferAction: inline,
  },
  {
    id: 'unknown-operation',
    reasonCode: 'command.uninspectable',
    description: 'The operation or its input is only known when it runs.',
    saferAction: inline,
  },
  {
    id: 'tool',
    reasonCode: 'cloud_b.destructive_tool',
    description: 'Calls a tool that deletes, terminates or purges something in the cloud.',
    saferAction: back,
  },
]

/** Destructive operations of any service. */
export const destructiveOperation =
  /^(?:(?:batch-)?delete|terminate|deregister|purge|release|admin-delete|dispose|start-(?:batch-)?delete|remove-all|remote-delete)(?:-|$)|-and-delete-|^start-.*-deletion$|^(?:create-data-deletion-job|schedule-key-deletion|close-account)$/

/** Destructive operations of one service, or with a unique name. */
export const destructiveOperations: ReadonlySet<string> = new Set([
  'neptune-graph reset-graph',
  'neptunedata execute-fast-reset',
  'organizations remove-account-from-organization',
  'secretsmanager remove-regions-from-replication',
  'sns unsubscribe',
  'transfer start-remote-delete',
])

/** Operations that release nothing of value, despite the name. */
export const harmlessOperations: ReadonlySet<string> = new Set([
  'fsx release-file-system-nfs-v3-locks',
])

/** Operations that depend on their input: the options with it, and how it is judged. */
export interface InputRule {
  readonly options: readonly string[]
  readonly kind: 'batch' | 'sql' | 'partiql'
}

export const inputRules: ReadonlyMap<string, InputRule> = new Map<string, InputRule>([
  ['route53 change-resource-record-sets', { options: ['change-batch'], kind: 'batch' }],
  ['dynamodb batch-write-item', { options: ['request-items'], kind: 'batch' }],
  ['dynamodb transact-write-items', { options: ['transact-items'], kind: 'batch' }],
  ['dynamodb execute-statement', { options: ['statement'], kind: 'partiql' }],
  ['dynamodb batch-execute-statement', { options: ['statements'], kind: 'partiql' }],
  ['dynamodb execute-transaction', { options: ['transact-statements'], kind: 'partiql' }],
  ['athena start-query-execution', { options: ['query-string'], kind: 'sql' }],
  ['athena create-prepared-statement', { options: ['query-statement'], kind: 'sql' }],
  ['rds-data execute-statement', { options: ['sql'], kind: 'sql' }],
  ['rds-data batch-execute-statement', { options: ['sql'], kind: 'sql' }],
  ['rds-data execute-sql', { options: ['sql-statements'], kind: 'sql' }],
  ['redshift-data execute-statement', { options: ['sql'], kind: 'sql' }],
  ['redshift-data batch-execute-statement', { options: ['sqls'], kind: 'sql' }],
])

/** Options of each call, with a value. */
export const globalValues: readonly string[] = [
  'ca-bundle',
  'cli-binary-format',
  'cli-connect-timeout',
  'cli-error-format',
  'cli-read-timeout',
  'color',
  'endpoint-url',
  'output',
  'profile',
  'query',
  'region',
]

/** Words in the names of the provider's servers. */
export const serverWords = wordSet(`
  aws amazon awslabs athena bedrock cloudformation cloudfront cloudtrail cloudwatch dynamodb ec2 ecr
  ecs eks elasticache kinesis lambda rds redshift route53 s3 sagemaker secretsmanager sns sqs ssm
`)

export const toolVerbs = wordSet(`
  delete deregister destroy mv purge rb release remove rm terminate
`)
export const toolPhrases: readonly string[] = [
  'batch_delete',
  'close_account',
  'delete_objects',
  'schedule_key_deletion',
  'sns_unsubscribe',
]
