import {
  type AdminRoute,
  type AuditTrail,
  adminRoute,
  SESSION_COOKIE,
  type SessionCaller,
  strictObject,
  Type,
} from 'model-gateway/plugin'
import { oneOf } from '../../_shared/schema.ts'
import { hashPassword, NewPassword } from '../_shared/password.ts'
import { LONGEST_MS, type Sessions, type SignedIn, wrongPassword } from './sessions.ts'
import type { SessionStore } from './store.ts'

const SessionView = Type.Object({
  user: Type.Object({
    user_id: Type.String(),
    email: Type.String(),
    name: Type.String(),
    role: oneOf(['platform_admin', 'user']),
  }),
  expires_at: Type.String({
    format: 'date-time',
    description: 'Eight hours without a call end the session earlier.',
  }),
})

// Longer than any password that can be set; what is compared stays bounded.
const Given = Type.String({ minLength: 1, maxLength: 1024 })

/** Signing in, signing out, and what a session is. */
export function sessionRoutes(
  sessions: Sessions,
  store: Pick<SessionStore, 'changePassword'>,
  audit: () => AuditTrail,
): AdminRoute[] {
  return [
    adminRoute({
      method: 'POST',
      path: '/api/v1/auth/login',
      audience: 'anyone',
      tag: 'session',
      summary: 'Sign in. The session is a cookie; the one that came with the call ends.',
      body: strictObject({ email: Type.String({ minLength: 1, maxLength: 320 }), password: Given }),
      result: SessionView,
      replyHeaders: { 'set-cookie': 'The session.' },
      errors: ['invalid_credentials'],
      async handle({ body, caller, address, secure, reply }) {
        const signedIn = await sessions.signIn({ ...body, address })
        if (caller !== undefined) await sessions.end(caller)
        reply.append('set-cookie', sessionCookie(signedIn.token, secure))
        return viewOf(signedIn)
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/api/v1/auth/logout',
      audience: 'anyone',
      tag: 'session',
      summary: 'Sign out. Without a session there is nothing to do.',
      status: 204,
      result: Type.Void(),
      replyHeaders: { 'set-cookie': 'Removes the cookie.' },
      async handle({ caller, secure, reply }) {
        if (caller !== undefined) await sessions.end(caller)
        reply.append('set-cookie', sessionCookie('', secure))
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/auth/session',
      audience: 'session',
      tag: 'session',
      summary: 'Who is signed in.',
      result: SessionView,
      async handle({ caller }) {
        return viewOf({ caller, expiresAt: await sessions.expiresAt(caller) })
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/api/v1/auth/password',
      audience: 'session',
      tag: 'session',
      summary: 'Change your password. Every session of yours ends and a new one begins.',
      body: strictObject({ current_password: Given, new_password: NewPassword }),
      result: SessionView,
      replyHeaders: { 'set-cookie': 'The new session.' },
      errors: ['invalid_credentials'],
      async handle({ body, caller, requestId, address, secure, reply }) {
        const before = await sessions.requirePassword(caller, body.current_password, address)
        const after = await hashPassword(body.new_password)
        const changed = await store.changePassword(caller.userId, { before, after }, (sql) =>
          audit().write(sql, {
            actor: caller,
            requestId,
            action: 'user.change_password',
            objectKind: 'user',
            objectId: caller.userId,
          }),
        )
        if (!changed) throw wrongPassword()
        const signedIn = await sessions.start(caller, after)
        reply.append('set-cookie', sessionCookie(signedIn.token, secure))
        return viewOf(signedIn)
      },
    }),
  ]
}

function viewOf({ caller, expiresAt }: Pick<SignedIn, 'caller' | 'expiresAt'>) {
  const { userId, email, name, role }: SessionCaller = caller
  return { user: { user_id: userId, email, name, role }, expires_at: expiresAt.toISOString() }
}

/** An empty token removes the cookie. */
function sessionCookie(token: string, secure: boolean): string {
  const name = secure ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE
  const seconds = token === '' ? 0 : LONGEST_MS / 1000
  const cookie = `${name}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
  return secure ? `${cookie}; Secure` : cookie
}
