import type { ConfigDraft } from 'model-gateway/host'
import {
  type ConfigPath,
  formatPath,
  type Problem,
  Secret,
  type Static,
} from 'model-gateway/plugin'
import { type KnownModels, knownModels } from '../_shared/model-names.ts'
import { ALL_MODELS } from './_shared/fields.ts'
import { passwordProblem } from './_shared/password.ts'
import type {
  ApiKeyEntry,
  auth,
  ModelAccessEntry,
  ServiceAccountEntry,
  TeamEntry,
  UserEntry,
} from './config.ts'
import { parseKey } from './keys.ts'

/** A parsed value in which any part may be missing because it was invalid. */
type Loose<T> = T extends Secret
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Loose<Item>[]
    : T extends object
      ? { readonly [K in keyof T]?: Loose<T[K]> | undefined }
      : T

type ModelEntries = readonly { allowlist?: { users: string[]; teams: string[] } }[]

/** Checks that the schemas cannot express: references, duplicates, contradictions. */
export function* checkIdentity(draft: ConfigDraft): Iterable<Problem> {
  const section = <T>(of: string) => (draft.section(of) ?? []) as readonly Loose<T>[]
  const teamList = section<TeamEntry>('teams')
  const userList = section<UserEntry>('users')
  const accountList = section<ServiceAccountEntry>('service_accounts')
  const teamKeys = new Set(teamList.map((team) => team.key))
  const emails = new Set(userList.map((user) => user.email?.toLowerCase()))
  const publicIds = new Map<string, ConfigPath>()
  const models = knownModels(draft.modelIds)

  yield* duplicates(teamList, 'teams', 'key', (team) => team.key)
  yield* duplicates(userList, 'users', 'email', (user) => user.email?.toLowerCase())
  yield* duplicates(accountList, 'service_accounts', 'key', (account) => account.key)

  for (const [i, team] of teamList.entries()) {
    yield* checkModelAccess(team.model_access, ['teams', i, 'model_access'], models)
  }
  for (const [i, user] of userList.entries()) {
    const path = ['users', i]
    yield* checkModelAccess(user.model_access, [...path, 'model_access'], models)
    yield* checkTeam(user.team?.key, teamKeys, [...path, 'team', 'key'])
    yield* checkKeys(user.api_keys ?? [], [...path, 'api_keys'], models, publicIds, true)
  }
  for (const [i, account] of accountList.entries()) {
    const path = ['service_accounts', i]
    yield* checkModelAccess(account.model_access, [...path, 'model_access'], models)
    yield* checkTeam(account.team, teamKeys, [...path, 'team'])
    yield* checkKeys(account.api_keys ?? [], [...path, 'api_keys'], models, publicIds, false)
  }
  yield* checkAllowlists(draft, emails, teamKeys)

  const authSection = draft.section('auth') as Loose<Static<typeof auth.schema>> | undefined
  yield* checkPassword(authSection?.bootstrap_admin?.password)
  const quickstartUser = authSection?.quickstart_user
  if (quickstartUser !== undefined && !emails.has(quickstartUser.toLowerCase())) {
    yield {
      path: ['auth', 'quickstart_user'],
      message: `no user has the email address ${quickstartUser}`,
    }
  }
}

function* checkPassword(password: Secret | undefined): Iterable<Problem> {
  if (!(password instanceof Secret)) return
  const message = passwordProblem(password.reveal())
  if (message !== undefined) yield { path: ['auth', 'bootstrap_admin', 'password'], message }
}

function* duplicates<T>(
  entries: readonly T[],
  section: string,
  field: string,
  pick: (entry: T) => string | undefined,
): Iterable<Problem> {
  const seen = new Set<string>()
  for (const [i, entry] of entries.entries()) {
    const value = pick(entry)
    if (value === undefined) continue
    if (seen.has(value)) {
      yield { path: [section, i, field], message: `another entry has the same ${field} ${value}` }
    }
    seen.add(value)
  }
}

function* checkModels(
  models: readonly string[] | undefined,
  path: ConfigPath,
  known: KnownModels,
): Iterable<Problem> {
  for (const [i, model] of (models ?? []).entries()) {
    const message = known.faultOf(model)
    if (message !== undefined) yield { path: [...path, i], message }
  }
}

function* checkModelAccess(
  access: Loose<ModelAccessEntry> | undefined,
  path: ConfigPath,
  known: KnownModels,
): Iterable<Problem> {
  if (access === undefined) return
  yield* checkModels(access.models, [...path, 'models'], known)
  if (access.mode === 'restricted' && access.models === undefined) {
    yield {
      path,
      message: 'has mode restricted but no models',
      hint: 'list models, or set mode to all',
    }
  }
  if (access.mode === 'all' && access.models !== undefined) {
    yield {
      path: [...path, 'models'],
      message: 'must not be set with mode all',
      hint: 'set mode to restricted, or remove models',
    }
  }
}

function* checkTeam(
  team: string | undefined,
  known: ReadonlySet<string | undefined>,
  path: ConfigPath,
): Iterable<Problem> {
  if (team !== undefined && !known.has(team)) {
    yield { path, message: `unknown team ${team}`, hint: 'declare it under teams' }
  }
}

function* checkKeys(
  keys: readonly Loose<ApiKeyEntry>[],
  path: ConfigPath,
  known: KnownModels,
  publicIds: Map<string, ConfigPath>,
  mayHaveAllModels: boolean,
): Iterable<Problem> {
  const names = new Set<string>()
  for (const [i, entry] of keys.entries()) {
    const at = [...path, i]
    yield* checkModels(entry.models, [...at, 'models'], known)
    const all = entry.models?.indexOf(ALL_MODELS) ?? -1
    if (all >= 0 && !mayHaveAllModels) {
      yield {
        path: [...at, 'models', all],
        message: '* grants all models, which is allowed only for users',
        hint: 'list the models of a service account, or patterns such as openai/*',
      }
    }
    if (entry.name !== undefined && names.has(entry.name)) {
      yield {
        path: [...at, 'name'],
        message: `another key of this owner has the same name ${entry.name}`,
      }
    }
    if (entry.name !== undefined) names.add(entry.name)
    if (entry.all_models === true && !mayHaveAllModels) {
      yield {
        path: [...at, 'all_models'],
        message: 'is allowed only for users',
        hint: 'list the models of the service account under models',
      }
    } else if (entry.all_models === true && entry.models !== undefined) {
      yield {
        path: [...at, 'all_models'],
        message: 'must not be set together with models',
        hint: 'keep one of the two',
      }
    } else if (entry.all_models !== true && entry.models === undefined) {
      yield {
        path: at,
        message: 'does not grant any model',
        hint: mayHaveAllModels ? 'add models, or all_models: true' : 'add models',
      }
    }
    yield* checkValue(entry.value, [...at, 'value'], publicIds)
  }
}

function* checkValue(
  value: Secret | undefined,
  path: ConfigPath,
  publicIds: Map<string, ConfigPath>,
): Iterable<Problem> {
  if (!(value instanceof Secret)) return
  const parsed = parseKey(value.reveal())
  if (parsed === undefined) {
    yield {
      path,
      message: 'is not a gateway key',
      hint: 'write gwk_, at least 16 of a-z 2-7, a dot, and at least 43 of A-Z a-z 0-9 - _',
    }
    return
  }
  const other = publicIds.get(parsed.publicId)
  if (other !== undefined) {
    yield { path, message: `has the same public id as ${formatPath(other)}` }
  }
  publicIds.set(parsed.publicId, path)
}

/** Only warnings, because users and teams can also come from the control plane. */
function* checkAllowlists(
  draft: ConfigDraft,
  emails: ReadonlySet<string | undefined>,
  teamKeys: ReadonlySet<string | undefined>,
): Iterable<Problem> {
  const models = (draft.section('models') ?? []) as Loose<ModelEntries>
  for (const [i, model] of models.entries()) {
    for (const [j, user] of (model.allowlist?.users ?? []).entries()) {
      if (emails.has(user.toLowerCase())) continue
      yield {
        path: ['models', i, 'allowlist', 'users', j],
        message: `no user in this file has the email address ${user}`,
        severity: 'warning',
      }
    }
    for (const [j, team] of (model.allowlist?.teams ?? []).entries()) {
      if (teamKeys.has(team)) continue
      yield {
        path: ['models', i, 'allowlist', 'teams', j],
        message: `no team in this file has the key ${team}`,
        severity: 'warning',
      }
    }
  }
}
