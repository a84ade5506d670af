import type { AuditTrail } from 'model-gateway/admin'
import type { Welcome } from 'model-gateway/host'
import {
  type Clock,
  type Command,
  type CommandSpec,
  type Database,
  UsageError,
} from 'model-gateway/plugin'
import { once, readArguments } from '../_shared/arguments.ts'
import type { KnownModels } from '../_shared/model-names.ts'
import { ALL_MODELS } from './_shared/fields.ts'
import { viewOfKey } from './api-keys/view.ts'
import { findOwner, insertFirstKey, issueKey, type OwnerName } from './command-store.ts'
import { generateKey } from './keys.ts'

/** The parts of the accepted config that the commands need; `undefined` before it is loaded. */
export type KnownConfig = () =>
  | {
      readonly models: KnownModels
      readonly quickstartUser: string | undefined
    }
  | undefined

const UNIT_MS = { h: 3_600_000, d: 86_400_000 }

export const keysCreate: CommandSpec = {
  name: 'keys create',
  summary: 'Creates an API key and prints it once',
  usage:
    '(--user EMAIL | --service-account KEY) (--model M... | --all-models) [--name N] [--expires 90d]',
}

export interface KeysCommandParts {
  readonly database: Database
  readonly clock: Clock
  readonly config: KnownConfig
  readonly audit: () => AuditTrail
}

/** `gateway keys create`: prints only the raw key, once. */
export function createKeysCommand({ database, clock, config, audit }: KeysCommandParts): Command {
  return {
    name: keysCreate.name,
    async run(args, out) {
      const options = parseArguments(args)
      const models = config()?.models
      for (const model of options.models) {
        const fault = models?.faultOf(model)
        if (fault !== undefined) throw new UsageError(fault)
      }
      const owner = await findOwner(database, options.owner)
      if (owner === undefined) {
        throw new UsageError(
          options.owner.kind === 'user'
            ? `no user has the email address ${options.owner.email}`
            : `no service account has the key ${options.owner.key}`,
        )
      }
      const { raw, publicId, secretHash } = generateKey()
      const now = clock.now()
      const { expiresInMs } = options
      const key = {
        name: options.name,
        public_id: publicId,
        secret_hash: secretHash,
        ...owner,
        model_grant_mode: options.allModels ? 'all' : 'explicit',
        granted_models: options.models,
        expires_at: expiresInMs === undefined ? null : new Date(now.getTime() + expiresInMs),
      } as const
      await issueKey(database, key, (sql, row) =>
        audit().write(sql, {
          actor: undefined,
          requestId: 'command:keys-create',
          action: 'api_key.create',
          objectKind: 'api_key',
          objectId: row.api_key_id,
          after: viewOfKey(row, now),
        }),
      )
      out(raw)
    },
  }
}

interface KeyOptions {
  readonly owner: OwnerName
  readonly models: string[]
  readonly allModels: boolean
  readonly name: string
  readonly expiresInMs: number | undefined
}

function parseArguments(args: readonly string[]): KeyOptions {
  const flags = ['--user', '--service-account', '--model', '--name', '--expires']
  const values = readArguments(args, flags, ['--all-models'])
  const allModels = values.has('--all-models')
  const models = [...(values.get('--model') ?? [])]
  if (allModels === models.length > 0) {
    throw new UsageError('set either --model (repeatable) or --all-models')
  }
  const owner = ownerOf(once(values, '--user'), once(values, '--service-account'))
  if (owner.kind === 'service_account' && (allModels || models.includes(ALL_MODELS))) {
    throw new UsageError(`${allModels ? '--all-models' : '--model "*"'} is allowed only for users`)
  }
  return {
    owner,
    models,
    allModels,
    name: once(values, '--name') ?? 'created by command',
    expiresInMs: duration(once(values, '--expires')),
  }
}

function ownerOf(email: string | undefined, key: string | undefined): OwnerName {
  if (email !== undefined && key === undefined) return { kind: 'user', email }
  if (key !== undefined && email === undefined) return { kind: 'service_account', key }
  throw new UsageError('set either --user or --service-account')
}

function duration(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit] = /^([1-9][0-9]{0,4})([hd])$/.exec(text) ?? []
  if (count === undefined) {
    throw new UsageError(
      `--expires must be a number of days or hours such as 90d or 12h, got ${text}`,
    )
  }
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

/** The key of the quick start, created and printed at the first start. */
export function createWelcome(database: Database, config: KnownConfig): Welcome {
  return {
    async lines(baseUrl) {
      const email = config()?.quickstartUser
      const owner = email && (await findOwner(database, { kind: 'user', email }))
      if (!owner || owner.user_id === null) return []
      const { raw, publicId, secretHash } = generateKey()
      const key = {
        name: 'quickstart',
        public_id: publicId,
        secret_hash: secretHash,
        user_id: owner.user_id,
        model_grant_mode: 'all',
      } as const
      if (!(await insertFirstKey(database, key))) {
        return [
          `API key      created at an earlier start; create another: gateway keys create --user ${email} --all-models`,
        ]
      }
      return [
        `API key      ${raw}`,
        '             It is shown only once. Try it:',
        curl(baseUrl, raw, false),
        '             The same with streaming:',
        curl(baseUrl, raw, true),
      ]
    },
  }
}

function curl(baseUrl: string, key: string, stream: boolean): string {
  const message = { role: 'user', content: 'Hello' }
  const body = { model: 'demo', messages: [message], ...(stream && { stream }) }
  return `curl ${stream ? '-N ' : ''}${baseUrl}/v1/chat/completions -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
}
