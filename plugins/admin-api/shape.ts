import { KindGuard, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ErrorCode, errorKind } from 'model-gateway/plugin'

const oneOf = (what: string, names: readonly string[]) =>
  Type.Union(
    names.map((name) => Type.Literal(name)),
    { errorMessage: `whose ${what} is none of ${names.join(', ')}` },
  )
const text = (name: string) => Type.String({ errorMessage: `without ${name}` })
const codes = 'whose errors are not all codes of the gateway'

const Module = TypeCompiler.Compile(Type.Object({ id: Type.String() }))
const Routes = TypeCompiler.Compile(Type.Object({ routes: Type.Array(Type.Unknown()) }))
const Route = TypeCompiler.Compile(
  Type.Object(
    {
      method: oneOf('method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
      path: Type.String({
        pattern: '^/api/v1/',
        errorMessage: 'whose path does not begin with /api/v1/',
      }),
      audience: oneOf('audience', ['anyone', 'me', 'session', 'platform_admin']),
      handle: Type.Function([], Type.Unknown(), { errorMessage: 'without handle' }),
      tag: text('tag'),
      summary: text('summary'),
      errors: Type.Optional(Type.Array(Type.String(), { errorMessage: codes })),
    },
    { errorMessage: 'that is not an object' },
  ),
)

/** What keeps a value from being an admin module; `undefined` when nothing does. */
export function adminModuleFault(value: unknown): string | undefined {
  if (!Module.Check(value)) return 'admin_modules: it has no id'
  const module = `the admin module "${value.id}"`
  if (!Routes.Check(value)) return `${module} has no list of routes`
  for (const [index, route] of value.routes.entries()) {
    const fault = routeFault(route)
    if (fault === undefined) continue
    const { method, path } = (route ?? {}) as Partial<Record<string, unknown>>
    const named = typeof method === 'string' && typeof path === 'string'
    const which = named ? `the route ${method} ${path}` : `a route, the number ${index + 1},`
    return `${module} has ${which} ${fault}`
  }
  return undefined
}

function routeFault(route: unknown): string | undefined {
  if (!Route.Check(route)) return String(Route.Errors(route).First()?.schema.errorMessage)
  const { path, errors = [] } = route
  const part = path.split('/').find((part, at) => at > 0 && !/^([\w.-]+|\{\w+\})$/.test(part))
  if (part !== undefined) {
    return `whose path has the part "${part}": a part is a name or one parameter in braces`
  }
  const names = path.match(/\{\w+\}/g) ?? []
  if (new Set(names).size < names.length) return 'whose path names a parameter twice'
  return schemaFault(route) ?? (errors.every(isCode) ? undefined : codes)
}

/** The schemas come from any copy of TypeBox, and have to be usable by this one. */
function schemaFault(route: Partial<Record<string, unknown>>): string | undefined {
  if (!KindGuard.IsSchema(route.result)) return 'whose result is not a schema'
  for (const name of ['params', 'query', 'body']) {
    const schema = route[name]
    if (schema === undefined) continue
    const [fits, what] =
      name === 'body' ? [KindGuard.IsSchema, 'a schema'] : [KindGuard.IsObject, 'an object schema']
    if (!fits(schema)) return `whose ${name} is not ${what}`
    try {
      TypeCompiler.Compile(schema as TSchema)
    } catch (error) {
      return `whose ${name} cannot be checked: ${(error as Error).message}`
    }
  }
  if (KindGuard.IsObject(route.query) && route.query.additionalProperties !== false) {
    return 'whose query lets unknown names in: make it with strictObject'
  }
  return undefined
}

function isCode(code: string): boolean {
  try {
    errorKind(code as ErrorCode)
    return true
  } catch {
    return false
  }
}
