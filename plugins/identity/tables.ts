import { boolean, pgSchema, text, timestamp, uuid } from 'drizzle-orm/pg-core'

const identity = pgSchema('identity')

const instant = (name: string) => timestamp(name, { withTimezone: true })
const written = {
  configHash: text('config_hash'),
  adminFields: text('admin_fields').array().notNull().default([]),
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
}
const modelAccess = {
  modelAccessMode: text('model_access_mode', { enum: ['all', 'restricted'] })
    .notNull()
    .default('all'),
  allowedModels: text('allowed_models').array().notNull().default([]),
}

export const teams = identity.table('teams', {
  id: uuid('id').primaryKey(),
  key: text('key').notNull().unique(),
  name: text('name').notNull(),
  ...modelAccess,
  ...written,
})

export const users = identity.table('users', {
  id: uuid('id').primaryKey(),
  name: text('name').notNull(),
  email: text('email').notNull().unique(),
  role: text('role', { enum: ['platform_admin', 'user'] })
    .notNull()
    .default('user'),
  status: text('status', { enum: ['active', 'invited', 'disabled'] })
    .notNull()
    .default('active'),
  requestLoggingEnabled: boolean('request_logging_enabled').notNull().default(true),
  ...modelAccess,
  ...written,
})

export const passwords = identity.table('user_passwords', {
  userId: uuid('user_id').primaryKey(),
})

export const teamMemberships = identity.table('team_memberships', {
  userId: uuid('user_id').primaryKey(),
  teamId: uuid('team_id').notNull(),
  role: text('role', { enum: ['owner', 'admin', 'member'] })
    .notNull()
    .default('member'),
})

export const serviceAccounts = identity.table('service_accounts', {
  id: uuid('id').primaryKey(),
  key: text('key').notNull().unique(),
  name: text('name').notNull(),
  teamId: uuid('team_id').notNull(),
  status: text('status', { enum: ['active', 'disabled'] })
    .notNull()
    .default('active'),
  ...modelAccess,
  ...written,
})

export const apiKeys = identity.table('api_keys', {
  id: uuid('id').primaryKey(),
  publicId: text('public_id').notNull().unique(),
  secretHash: text('secret_hash').notNull(),
  name: text('name').notNull(),
  userId: uuid('user_id'),
  serviceAccountId: uuid('service_account_id'),
  modelGrantMode: text('model_grant_mode', { enum: ['explicit', 'all'] }).notNull(),
  grantedModels: text('granted_models').array().notNull().default([]),
  mcpServers: text('mcp_servers').array(),
  expiresAt: instant('expires_at'),
  lastUsedAt: instant('last_used_at'),
  revokedAt: instant('revoked_at'),
  rotatedAt: instant('rotated_at'),
  configEntry: text('config_entry').unique(),
  ...written,
})
