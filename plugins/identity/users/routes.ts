import { type AdminRoute, adminRoute, listOf, pageQuery } from 'model-gateway/admin'
import { GatewayError, type Static, strictObject, Type } from 'model-gateway/plugin'
import type { KnownModels } from '../../_shared/model-names.ts'
import { Id, ownId } from '../../_shared/own-id.ts'
import { readPage } from '../../_shared/page.ts'
import { asView, Instant, nullable, oneOf } from '../../_shared/schema.ts'
import {
  accessColumns,
  accessView,
  Email,
  ModelAccess,
  ModelAccessView,
  missing,
  Name,
  notFound,
  Search,
  TeamRole,
} from '../_shared/fields.ts'
import { hashPassword, NewPassword } from '../_shared/password.ts'
import {
  adminExists,
  type Change,
  endSessions,
  type MakeChange,
  rowExists,
  setPassword,
  setTeam,
  statesNothing,
  type Transaction,
} from '../_shared/store.ts'
import type { UserColumns, UserRow, UserStore } from './store.ts'

const Role = oneOf(['platform_admin', 'user'])
const Status = oneOf(['active', 'invited', 'disabled'])
const StatusOfNew = oneOf(['active', 'invited'])
const Membership = strictObject({ team_id: Id, role: Type.Optional(TeamRole) })

const UserView = Type.Object({
  user_id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  role: Role,
  status: Status,
  request_logging_enabled: Type.Boolean(),
  team: nullable(
    Type.Object({
      team_id: Type.String(),
      key: Type.String(),
      name: Type.String(),
      role: TeamRole,
    }),
  ),
  model_access: ModelAccessView,
  has_password: Type.Boolean({ description: 'Whether the user can sign in.' }),
  from_config: Type.Boolean({ description: 'Whether the config file declares the user.' }),
  created_at: Instant,
  updated_at: Instant,
})

function viewOfUser(row: UserRow): Static<typeof UserView> {
  const { team_id, team_key: key, team_name: name, team_role: role } = row
  const team = team_id === null ? null : { team_id, key, name, role }
  return asView(UserView, { ...row, team, model_access: accessView(row) })
}

export interface UserRouteParts {
  readonly store: UserStore
  readonly change: MakeChange
  readonly models: () => KnownModels
  /** E-mail addresses of the users that the config in force declares. */
  readonly configured: () => ReadonlySet<string>
}

const admin = { audience: 'platform_admin', tag: 'users' } as const
const userParams = Type.Object({ user_id: Id })

export function userRoutes(parts: UserRouteParts): AdminRoute[] {
  const { store, change, models, configured } = parts

  const optional = {
    role: Type.Optional(Role),
    request_logging_enabled: Type.Optional(Type.Boolean()),
    model_access: Type.Optional(ModelAccess),
    password: Type.Optional(NewPassword),
  }

  async function find(id: string, tx?: Transaction): Promise<UserRow> {
    const row = await store.find(id, tx)
    if (row === undefined) throw notFound('user')
    return row
  }

  async function changeTeam(
    { sql }: Change,
    id: string,
    team: Static<typeof Membership> | null | undefined,
    before?: UserRow,
  ) {
    if (team === undefined) return
    if (team !== null && !(await rowExists(sql, 'teams', team.team_id))) {
      throw missing('team.team_id', 'team')
    }
    // The role in a team is kept if the request does not set it.
    const stays = before?.team_id === (team && ownId(team.team_id))
    const role = stays ? before?.team_role : undefined
    await setTeam(sql, id, team && { team_id: team.team_id, role: team.role ?? role ?? 'member' })
  }

  return [
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/users',
      ...admin,
      summary: 'List users, by email address.',
      query: strictObject({
        ...pageQuery,
        status: Type.Optional(Status),
        role: Type.Optional(Role),
        team_id: Type.Optional(Id),
        search: Type.Optional(Search),
      }),
      result: listOf(UserView),
      handle: ({ query }) => readPage(query, (page) => store.list(query, page), viewOfUser),
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/admin/users/{user_id}',
      ...admin,
      summary: 'Get one user.',
      params: userParams,
      result: UserView,
      async handle({ params }) {
        return viewOfUser(await find(params.user_id))
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/api/v1/admin/users',
      ...admin,
      summary: 'Create a user. A user without a password cannot sign in, but can have API keys.',
      body: strictObject({
        name: Name,
        email: Email,
        ...optional,
        status: Type.Optional(StatusOfNew),
        team: Type.Optional(Membership),
      }),
      status: 201,
      result: UserView,
      errors: ['not_found', 'conflict'],
      async handle({ body, caller, requestId }) {
        const { team, password, model_access, ...own } = body
        const columns = {
          ...own,
          email: own.email.toLowerCase(),
          ...(model_access && accessColumns(model_access, models())),
        }
        const hash = password === undefined ? undefined : await hashPassword(password)
        return await change({ caller, requestId }, async (changing) => {
          const id = Bun.randomUUIDv7()
          await store.insert(changing.sql, id, columns)
          await changeTeam(changing, id, team)
          if (hash !== undefined) await setPassword(changing.sql, id, hash)
          const after = viewOfUser(await find(id, changing.sql))
          await changing.audit({ action: 'user.create', objectKind: 'user', objectId: id, after })
          return after
        })
      },
    }),
    adminRoute({
      method: 'PATCH',
      path: '/api/v1/admin/users/{user_id}',
      ...admin,
      summary:
        'Change a user. Disabling a user ends the sessions and rejects the keys at once; a new password ends the sessions.',
      params: userParams,
      body: strictObject({
        name: Type.Optional(Name),
        email: Type.Optional(Email),
        ...optional,
        status: Type.Optional(Status),
        team: Type.Optional(
          Type.Union([Membership, Type.Null()], {
            errorMessage: 'must be {team_id, role} or null',
          }),
        ),
      }),
      result: UserView,
      errors: ['conflict'],
      async handle({ params: { user_id: id }, body, caller, requestId }) {
        const { team, password, model_access, ...own } = body
        const columns: UserColumns = {
          ...own,
          ...(own.email !== undefined && { email: own.email.toLowerCase() }),
          ...(model_access && accessColumns(model_access, models())),
        }
        const hash = password === undefined ? undefined : await hashPassword(password)
        return await change({ caller, requestId }, async (changing) => {
          const { sql } = changing
          const before = await find(id, sql)
          if (statesNothing(body)) return viewOfUser(before)
          const moves = columns.email !== undefined && columns.email !== before.email
          if (moves && configured().has(before.email)) {
            throw new GatewayError(
              'conflict',
              'email: cannot be changed, because the config file identifies the user by it',
            )
          }
          const hadAdmin = await adminExists(sql)
          await changeTeam(changing, id, team, before)
          await store.update(sql, id, columns, Object.keys(body))
          if (hash !== undefined) await setPassword(sql, id, hash)
          if (body.status === 'disabled') await endSessions(sql, id)
          if (hadAdmin && !(await adminExists(sql))) {
            const field = body.role === 'user' ? 'role' : 'status'
            throw new GatewayError(
              'conflict',
              `${field}: this is the last platform admin who can sign in`,
            )
          }
          const after = viewOfUser(await find(id, sql))
          await changing.audit({
            action: 'user.update',
            objectKind: 'user',
            objectId: id,
            before: viewOfUser(before),
            after: { ...after, ...(hash !== undefined && { password_changed: true }) },
          })
          return after
        })
      },
    }),
  ]
}
