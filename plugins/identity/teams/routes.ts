import { type AdminRoute, adminRoute, listOf, pageQuery } from 'model-gateway/admin'
import { GatewayError, type Static, strictObject, Type } from 'model-gateway/plugin'
import type { KnownModels } from '../../_shared/model-names.ts'
import { Id } from '../../_shared/own-id.ts'
import { readPage } from '../../_shared/page.ts'
import { asView, Instant, oneOf } from '../../_shared/schema.ts'
import {
  accessColumns,
  accessView,
  Key,
  ModelAccess,
  ModelAccessView,
  Name,
  notFound,
  Search,
  TeamRole,
} from '../_shared/fields.ts'
import { type MakeChange, statesNothing } from '../_shared/store.ts'
import type { MemberRow, TeamRow, TeamStore } from './store.ts'

const TeamView = Type.Object({
  team_id: Type.String(),
  key: Type.String(),
  name: Type.String(),
  model_access: ModelAccessView,
  member_count: Type.Integer(),
  service_account_count: Type.Integer(),
  from_config: Type.Boolean({ description: 'Whether the config file declares the team.' }),
  created_at: Instant,
  updated_at: Instant,
})

function viewOf(row: TeamRow): Static<typeof TeamView> {
  return asView(TeamView, { ...row, model_access: accessView(row) })
}

const MemberView = Type.Object({
  user_id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  status: oneOf(['active', 'invited', 'disabled']),
  role: TeamRole,
})

export interface TeamRouteParts {
  readonly store: TeamStore
  readonly change: MakeChange
  readonly models: () => KnownModels
  /** Keys of the teams that the config in force declares. */
  readonly configured: () => ReadonlySet<string>
}

const teamParams = Type.Object({ team_id: Id })
const memberParams = Type.Object({ team_id: Id, user_id: Id })
const admin = { audience: 'platform_admin', tag: 'teams' } as const

export function teamRoutes({ store, change, models, configured }: TeamRouteParts): AdminRoute[] {
  async function find(id: string, tx?: Parameters<TeamStore['find']>[1]): Promise<TeamRow> {
    const row = await store.find(id, tx)
    if (row === undefined) throw notFound('team')
    return row
  }

  return [
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/teams',
      summary: 'List teams, by key.',
      query: strictObject({ ...pageQuery, search: Type.Optional(Search) }),
      result: listOf(TeamView),
      handle: ({ query }) => readPage(query, (page) => store.list(query, page), viewOf),
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/teams/{team_id}',
      summary: 'Get one team.',
      params: teamParams,
      result: TeamView,
      handle: async ({ params }) => viewOf(await find(params.team_id)),
    }),
    adminRoute({
      ...admin,
      method: 'POST',
      path: '/api/v1/admin/teams',
      summary: 'Create a team. Model allowlists in the config file refer to its key.',
      body: strictObject({ key: Key, name: Name, model_access: Type.Optional(ModelAccess) }),
      status: 201,
      result: TeamView,
      errors: ['not_found', 'conflict'],
      async handle({ body: { key, name, model_access }, caller, requestId }) {
        const access = model_access && accessColumns(model_access, models())
        return await change({ caller, requestId }, async ({ sql, audit }) => {
          const id = Bun.randomUUIDv7()
          await store.insert(sql, id, { key, name, ...access })
          const after = viewOf(await find(id, sql))
          await audit({ action: 'team.create', objectKind: 'team', objectId: id, after })
          return after
        })
      },
    }),
    adminRoute({
      ...admin,
      method: 'PATCH',
      path: '/api/v1/admin/teams/{team_id}',
      summary: 'Change a team.',
      params: teamParams,
      body: strictObject({ name: Type.Optional(Name), model_access: Type.Optional(ModelAccess) }),
      result: TeamView,
      async handle({ params: { team_id: id }, body, caller, requestId }) {
        const { model_access, ...own } = body
        const columns = { ...own, ...(model_access && accessColumns(model_access, models())) }
        return await change({ caller, requestId }, async ({ sql, audit }) => {
          const before = viewOf(await find(id, sql))
          if (statesNothing(body)) return before
          await store.update(sql, id, columns, Object.keys(body))
          const after = viewOf(await find(id, sql))
          await audit({ action: 'team.update', objectKind: 'team', objectId: id, before, after })
          return after
        })
      },
    }),
    adminRoute({
      ...admin,
      method: 'DELETE',
      path: '/api/v1/admin/teams/{team_id}',
      summary: 'Delete a team without members and service accounts.',
      params: teamParams,
      status: 204,
      result: Type.Void(),
      errors: ['conflict'],
      async handle({ params: { team_id: id }, caller, requestId }) {
        await change({ caller, requestId }, async ({ sql, audit }) => {
          const row = await find(id, sql)
          if (configured().has(row.key)) {
            throw new GatewayError(
              'conflict',
              'the config file declares this team; remove it there',
            )
          }
          if (row.member_count + row.service_account_count > 0) {
            throw new GatewayError('conflict', 'the team still has members or service accounts')
          }
          await store.remove(sql, id)
          await audit({
            action: 'team.delete',
            objectKind: 'team',
            objectId: id,
            before: viewOf(row),
          })
        })
      },
    }),
    adminRoute({
      ...admin,
      method: 'GET',
      path: '/api/v1/admin/teams/{team_id}/members',
      summary: 'List the members of a team, by email address.',
      params: teamParams,
      query: strictObject(pageQuery),
      result: listOf(MemberView),
      async handle({ params: { team_id: id }, query }) {
        await find(id)
        return await readPage(query, (page) => store.listMembers(id, page), memberView)
      },
    }),
    adminRoute({
      ...admin,
      method: 'PUT',
      path: '/api/v1/admin/teams/{team_id}/members/{user_id}',
      summary: 'Add a user to a team, or change the role of a member. A user has at most one team.',
      params: memberParams,
      body: strictObject({ role: TeamRole }),
      result: MemberView,
      errors: ['conflict'],
      async handle({ params: { team_id: id, user_id: userId }, body, caller, requestId }) {
        return await change({ caller, requestId }, async ({ sql, audit }) => {
          await find(id, sql)
          const before = await store.findMembership(sql, userId)
          if (before === undefined) throw notFound('user')
          if (before.team_id !== null && before.team_id !== id) {
            throw new GatewayError(
              'conflict',
              `user_id: the user is already in the team ${before.team_key}`,
            )
          }
          await store.setMember(sql, id, userId, body.role)
          await audit({
            action: 'team.set_member',
            objectKind: 'team',
            objectId: id,
            before: before.team_id === null ? null : { user_id: userId, role: before.role },
            after: { user_id: userId, role: body.role },
          })
          const member = await store.findMember(sql, userId)
          if (member === undefined) throw notFound('member')
          return memberView(member)
        })
      },
    }),
    adminRoute({
      ...admin,
      method: 'DELETE',
      path: '/api/v1/admin/teams/{team_id}/members/{user_id}',
      summary: 'Remove a user from a team.',
      params: memberParams,
      status: 204,
      result: Type.Void(),
      async handle({ params: { team_id: id, user_id: userId }, caller, requestId }) {
        await change({ caller, requestId }, async ({ sql, audit }) => {
          const before = await store.findMembership(sql, userId)
          if (before?.team_id !== id) throw notFound('member')
          await store.removeMember(sql, userId)
          await audit({
            action: 'team.remove_member',
            objectKind: 'team',
            objectId: id,
            before: { user_id: userId, role: before.role },
          })
        })
      },
    }),
  ]
}

function memberView(row: MemberRow): Static<typeof MemberView> {
  return asView(MemberView, row)
}
