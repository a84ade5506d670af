import { randomBytes } from 'node:crypto'
import type { AuditTrail } from 'model-gateway/admin'
import type { Welcome } from 'model-gateway/host'
import { type Command, type CommandSpec, UsageError } from 'model-gateway/plugin'
import { once, readArguments } from '../_shared/arguments.ts'
import { hashPassword, passwordProblem } from './_shared/password.ts'
import { FILE_FIELDS } from './_shared/store.ts'
import type { SessionStore } from './sessions/store.ts'

export interface FirstAdminParts {
  readonly store: Pick<SessionStore, 'hasAdmin' | 'makeAdmin'>
  readonly audit: () => AuditTrail
}

interface NewAdmin {
  readonly email: string
  readonly name?: string | undefined
  readonly password: string
}

/** Recorded in the audit log instead of a request id. */
type Origin = 'command:admin-create' | 'config:bootstrap-admin' | 'quick-start'

async function make(
  { store, audit }: FirstAdminParts,
  admin: NewAdmin,
  origin: Origin,
): Promise<Awaited<ReturnType<SessionStore['makeAdmin']>>> {
  const email = admin.email.toLowerCase()
  const byPerson = origin === 'command:admin-create'
  return await store.makeAdmin({
    email,
    name: admin.name ?? (email.split('@', 1)[0] as string),
    hash: await hashPassword(admin.password),
    unless: byPerson ? 'never' : 'there is an admin',
    fields: byPerson ? FILE_FIELDS.users : ['role'],
    also: (sql, userId) =>
      audit().write(sql, {
        actor: undefined,
        requestId: origin,
        action: 'user.make_admin',
        objectKind: 'user',
        objectId: userId,
        after: { email, role: 'platform_admin', password_changed: true },
      }),
  })
}

/**
 * `auth.bootstrap_admin`: does nothing if an admin exists. Resolves to a warning for the operator.
 */
export async function bootstrapAdmin(
  parts: FirstAdminParts,
  admin: NewAdmin,
): Promise<string | undefined> {
  if (await parts.store.hasAdmin()) return undefined
  const outcome = await make(parts, admin, 'config:bootstrap-admin')
  return outcome === 'disabled' ? `${admin.email} is disabled and stays disabled` : undefined
}

export const adminCreate: CommandSpec = {
  name: 'admin create',
  summary: 'Creates a platform admin, or sets a new password for one',
  usage: '--email E [--name N]   (password: GATEWAY_ADMIN_PASSWORD, or prompted)',
}

/** `gateway admin create` */
export function createAdminCommand(
  parts: FirstAdminParts,
  readPassword: () => Promise<string | undefined>,
): Command {
  return {
    name: adminCreate.name,
    async run(args, out) {
      const { email, name } = parseArguments(args)
      const password = await readPassword()
      if (password === undefined)
        throw new UsageError('the password is missing; set GATEWAY_ADMIN_PASSWORD or type it')
      const problem = passwordProblem(password)
      if (problem !== undefined) throw new UsageError(`the password ${problem}`)
      const outcome = await make(parts, { email, name, password }, 'command:admin-create')
      if (outcome === 'disabled') {
        throw new UsageError(
          `${email} was disabled by an administrator; choose another email address`,
        )
      }
      out(`${email.toLowerCase()} is a platform admin and can sign in`)
    },
  }
}

function parseArguments(args: readonly string[]): { email: string; name: string | undefined } {
  const values = readArguments(args, ['--email', '--name'])
  const email = once(values, '--email')
  if (email === undefined) throw new UsageError('--email is required')
  if (!/^[^@\s]+@[^@\s]+$/.test(email))
    throw new UsageError(`--email must be an email address, got ${email}`)
  return { email, name: once(values, '--name') }
}

/** The admin of the quick start, created and printed at the first start. */
export function createAdminWelcome(
  parts: FirstAdminParts,
  quickstartUser: () => string | undefined,
): Welcome {
  return {
    async lines(baseUrl) {
      const email = quickstartUser()
      if (email === undefined) return []
      const password = randomBytes(12).toString('base64url')
      const isNew =
        !(await parts.store.hasAdmin()) &&
        (await make(parts, { email, password }, 'quick-start')) === 'made'
      return isNew
        ? [
            `Admin        ${email}, password ${password}`,
            `             It is shown only once. API documentation: ${baseUrl}/docs`,
          ]
        : [
            `Admin        created at an earlier start; create another: gateway admin create --email E`,
          ]
    },
  }
}
