import { KindGuard, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ErrorCode, type ErrorKind, errorKind, Shape } from 'model-gateway/plugin'
import type { AdminModule, AdminRoute } from './contract.ts'

export const AdminModuleShape = Type.Object({
  id: Shape.text(),
  routes: Type.Array(
    Type.Object({
      method: Shape.oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
      path: Type.String({
        pattern: String.raw`^/api/v1(/([\w.-]+|\{\w+\}))+$`,
        description:
          'a path below /api/v1/ in which each segment is a name or one parameter in braces',
      }),
      audience: Shape.oneOf(['anyone', 'me', 'session', 'platform_admin']),
      tag: Type.String(),
      summary: Type.String(),
      params: Type.Optional(Shape.objectSchema()),
      query: Type.Optional(Shape.objectSchema()),
      body: Type.Optional(Shape.schema()),
      result: Shape.schema(),
      errors: Type.Optional(
        Type.Array(Type.Union([Type.String(), Type.Object({ code: Type.String() })])),
      ),
      handle: Shape.method(),
    }),
  ),
})

/** Checks of an admin module that its shape cannot express. */
export function adminModuleFault({ routes }: AdminModule): string | undefined {
  for (const route of routes) {
    const fault = routeFault(route)
    if (fault !== undefined) return `the route ${route.method} ${route.path} ${fault}`
  }
  return undefined
}

function routeFault({ path, params, query, body, errors = [] }: AdminRoute): string | undefined {
  const names = path.match(/\{\w+\}/g) ?? []
  if (new Set(names).size < names.length) return 'names a parameter twice'
  for (const [name, schema] of Object.entries({ params, query, body })) {
    try {
      if (schema !== undefined) TypeCompiler.Compile(schema)
    } catch (error) {
      return `has an invalid schema ${name}: ${(error as Error).message}`
    }
  }
  if (KindGuard.IsObject(query) && query.additionalProperties !== false) {
    return 'has a query schema that accepts unknown parameters; create it with strictObject'
  }
  const unknown = errors.find((code) => !isCode(code))
  return unknown === undefined ? undefined : `lists the unknown error code ${unknown}`
}

function isCode(code: ErrorCode | ErrorKind): boolean {
  try {
    errorKind(code)
    return true
  } catch {
    return false
  }
}
