import { KindGuard } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Fields } from '../../kernel/config/fields.ts'
import {
  type AdminRoute,
  type Audience,
  type ErrorCode,
  errorKind,
  type TSchema,
} from '../../kernel/plugin/index.ts'

const methods: readonly AdminRoute['method'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const audiences: readonly Audience[] = ['anyone', 'me', 'session', 'platform_admin']

/** What keeps an implementation from being an admin module; `undefined` when nothing does. */
export function adminModuleFault({ routes }: Fields): string | undefined {
  if (!Array.isArray(routes)) return 'has no list of routes'
  for (const [index, route] of (routes as unknown[]).entries()) {
    const fields = (route ?? {}) as Fields
    const fault = routeFault(fields)
    if (fault === undefined) continue
    const { method, path } = fields
    const named = typeof method === 'string' && typeof path === 'string'
    return `has ${named ? `the route ${method} ${path}` : `a route, the number ${index + 1},`} ${fault}`
  }
  return undefined
}

function routeFault(route: Fields): string | undefined {
  const { method, path, audience, handle, query } = route
  if (!(methods as readonly unknown[]).includes(method))
    return `whose method is none of ${methods.join(', ')}`
  if (typeof path !== 'string' || !path.startsWith('/api/v1/')) {
    return 'whose path does not begin with /api/v1/'
  }
  const part = path.split('/').find((part, at) => at > 0 && !/^([\w.-]+|\{\w+\})$/.test(part))
  if (part !== undefined) {
    return `whose path has the part "${part}": a part is a name or one parameter in braces`
  }
  const names = path.match(/\{\w+\}/g) ?? []
  if (new Set(names).size < names.length) return 'whose path names a parameter twice'
  if (!(audiences as readonly unknown[]).includes(audience))
    return `whose audience is none of ${audiences.join(', ')}`
  if (typeof handle !== 'function') return 'without handle'
  for (const name of ['tag', 'summary']) {
    if (typeof route[name] !== 'string') return `without ${name}`
  }
  if (!KindGuard.IsSchema(route.result)) return 'whose result is no schema'
  for (const name of ['params', 'query', 'body']) {
    const schema = route[name]
    const fits = name === 'body' ? KindGuard.IsSchema : KindGuard.IsObject
    if (schema !== undefined && !fits(schema)) {
      return `whose ${name} is no ${name === 'body' ? '' : 'object '}schema`
    }
    try {
      if (schema !== undefined) TypeCompiler.Compile(schema as TSchema)
    } catch (error) {
      return `whose ${name} cannot be checked: ${(error as Error).message}`
    }
  }
  if (KindGuard.IsObject(query) && query.additionalProperties !== false) {
    return 'whose query lets unknown names in: make it with strictObject'
  }
  const { errors = [] } = route
  if (!Array.isArray(errors) || !errors.every(isCode)) {
    return 'whose errors are not all codes of the gateway'
  }
  return undefined
}

function isCode(code: unknown): boolean {
  try {
    errorKind(code as ErrorCode)
    return true
  } catch {
    return false
  }
}
