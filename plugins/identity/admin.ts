import type { AdminModule, AdminRoute, AuditTrail, BudgetWriter } from 'model-gateway/admin'
import type { Clock, Database } from 'model-gateway/plugin'
import type { KnownModels } from '../_shared/model-names.ts'
import type { Note } from '../_shared/note.ts'
import { ownId } from '../_shared/own-id.ts'
import { createChanges } from './_shared/store.ts'
import { createKeyChanges } from './api-keys/change-keys.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { createApiKeyStore } from './api-keys/store.ts'
import { generateKey } from './keys.ts'
import { meRoutes } from './me.ts'
import { serviceAccountRoutes } from './service-accounts/routes.ts'
import { createServiceAccountStore } from './service-accounts/store.ts'
import { sessionRoutes } from './sessions/routes.ts'
import type { Sessions } from './sessions/sessions.ts'
import type { SessionStore } from './sessions/store.ts'
import { teamRoutes } from './teams/routes.ts'
import { createTeamStore } from './teams/store.ts'
import { userRoutes } from './users/routes.ts'
import { createUserStore } from './users/store.ts'

export interface AdminParts {
  readonly database: Database
  readonly audit: () => AuditTrail
  readonly budgets: () => BudgetWriter | undefined
  readonly clock: Clock
  readonly sessions: Sessions
  readonly sessionStore: SessionStore
  readonly note: Note
  /** Models, team keys and user e-mail addresses of the config in force. */
  readonly models: () => KnownModels
  readonly teamKeys: () => ReadonlySet<string>
  readonly emails: () => ReadonlySet<string>
  /** Resolves when this gateway has the committed changes in memory. */
  readonly refresh: () => Promise<void>
}

/** The control plane routes for sign-in, the caller's own data, and administration. */
export function createAdminModule(parts: AdminParts): AdminModule {
  const { database, audit, budgets, clock, sessions, sessionStore, models, refresh } = parts
  const change = createChanges(database, audit, refresh)
  const users = createUserStore(database)
  const teams = createTeamStore(database)
  const accounts = createServiceAccountStore(database)
  const keys = createApiKeyStore(database)
  const keyParts = { store: keys, change, clock, makeKey: generateKey }
  const changes = createKeyChanges(keyParts)
  return {
    id: 'identity',
    routes: [
      ...sessionRoutes(sessions, sessionStore, audit, parts.note),
      ...userRoutes({ store: users, change, models, configured: parts.emails }),
      ...teamRoutes({ store: teams, change, models, configured: parts.teamKeys }),
      ...serviceAccountRoutes({
        store: accounts,
        change,
        models,
        budgets,
      }),
      ...apiKeyRoutes({ ...keyParts, changes, models }),
      ...meRoutes({ users, teams, keys, changes, clock }),
    ].map(takingCapitals),
  }
}

/** Accepts upper-case ids, which some libraries send, and normalises them. */
function takingCapitals(route: AdminRoute): AdminRoute {
  return {
    ...route,
    handle(call) {
      const ids = Object.entries(call.params as Record<string, string>)
      const params = Object.fromEntries(ids.map(([name, id]) => [name, ownId(id)]))
      return route.handle({ ...call, params })
    },
  }
}
