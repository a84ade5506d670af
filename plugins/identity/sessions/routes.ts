import {
  type AdminRoute,
  type AuditTrail,
  adminRoute,
  cookieValues,
  SESSION_COOKIE,
  type SessionCaller,
} from 'model-gateway/admin'
import { strictObject, Type } from 'model-gateway/plugin'
import type { Note } from '../../_shared/note.ts'
import { oneOf } from '../../_shared/schema.ts'
import { hashPassword, NewPassword } from '../_shared/password.ts'
import { errors } from './errors.ts'
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
    description: 'The session ends earlier after eight hours without a request.',
  }),
})

/** Cookie of a device on which an account has signed in; it grants no access. */
const DEVICE_COOKIE = 'gateway_device'
/** Maximum lifetime of a cookie in browsers: 400 days. */
const DEVICE_SECS = 400 * 86_400

// Longer than any valid password; limits the work of a comparison.
const Given = Type.String({ minLength: 1, maxLength: 1024 })

/** Routes to sign in, sign out, read the session and change the password. */
export function sessionRoutes(
  sessions: Sessions,
  store: Pick<SessionStore, 'changePassword'>,
  audit: () => AuditTrail,
  note: Note,
): AdminRoute[] {
  return [
    adminRoute({
      method: 'POST',
      path: '/api/v1/auth/login',
      audience: 'anyone',
      tag: 'session',
      summary: 'Sign in. Sets a session cookie and ends the session of this request.',
      body: strictObject({ email: Type.String({ minLength: 1, maxLength: 320 }), password: Given }),
      result: SessionView,
      replyHeaders: { 'set-cookie': 'Session and device cookies.' },
      errors: [errors.invalid_credentials, errors.too_many_attempts],
      async handle({ body, caller, requestId, address, headers, secure, reply }) {
        const userAgent = headers.get('user-agent') ?? undefined
        const devices = devicesOf(headers, secure)
        const from = { requestId, address, userAgent, devices }
        const signedIn = await sessions.signIn({ ...body, ...from })
        if (caller !== undefined) await sessions.end(caller)
        setCookies(reply, signedIn, secure)
        return viewOf(signedIn)
      },
    }),
    adminRoute({
      method: 'POST',
      path: '/api/v1/auth/logout',
      audience: 'anyone',
      tag: 'session',
      summary: 'Sign out. Does nothing without a session.',
      status: 204,
      result: Type.Void(),
      replyHeaders: { 'set-cookie': 'Removes the session cookie.' },
      async handle({ caller, requestId, secure, reply }) {
        if (caller !== undefined) {
          await sessions.end(caller)
          const about = { objectKind: 'user', objectId: caller.userId }
          note({ actor: caller, requestId, action: 'auth.sign_out', ...about })
        }
        reply.append('set-cookie', cookieOf(SESSION_COOKIE, '', 0, secure))
      },
    }),
    adminRoute({
      method: 'GET',
      path: '/api/v1/auth/session',
      audience: 'session',
      tag: 'session',
      summary: 'Get the signed-in user.',
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
      summary:
        'Change your password. This ends all your sessions, starts a new one, and forgets your other devices.',
      body: strictObject({ current_password: Given, new_password: NewPassword }),
      result: SessionView,
      replyHeaders: { 'set-cookie': 'New session and device cookies.' },
      errors: [errors.invalid_credentials, errors.too_many_attempts],
      async handle({ body, caller, requestId, headers, secure, reply }) {
        const before = await sessions.requirePassword(caller, body.current_password, requestId)
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
        const signedIn = await sessions.start(caller, after, devicesOf(headers, secure))
        setCookies(reply, signedIn, secure)
        return viewOf(signedIn)
      },
    }),
  ]
}

function viewOf({ caller, expiresAt }: Pick<SignedIn, 'caller' | 'expiresAt'>) {
  const { userId, email, name, role }: SessionCaller = caller
  return { user: { user_id: userId, email, name, role }, expires_at: expiresAt.toISOString() }
}

function cookieName(name: string, secure: boolean): string {
  return secure ? `__Host-${name}` : name
}

/** `seconds` of 0 remove the cookie. */
function cookieOf(name: string, value: string, seconds: number, secure: boolean): string {
  const cookie = `${cookieName(name, secure)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
  return secure ? `${cookie}; Secure` : cookie
}

function setCookies(reply: Headers, { token, device }: SignedIn, secure: boolean): void {
  reply.append('set-cookie', cookieOf(SESSION_COOKIE, token, LONGEST_MS / 1000, secure))
  reply.append('set-cookie', cookieOf(DEVICE_COOKIE, device, DEVICE_SECS, secure))
}

function devicesOf(headers: Headers, secure: boolean): readonly string[] {
  return cookieValues(headers, cookieName(DEVICE_COOKIE, secure))
}
