import { GatewayError } from '../plugin/index.ts'

interface Route {
  readonly method: string
  readonly path: string
}

/** The methods of a path in the form of the `allow` header. `routes` is called at first use. */
export function createAllowed(routes: () => readonly Route[]) {
  let patterns: { methods: readonly string[]; path: URLPattern }[] | undefined
  return (path: string): string | undefined => {
    patterns ??= routes().map((route) => ({
      methods: route.method === 'GET' ? ['GET', 'HEAD'] : [route.method],
      path: new URLPattern({ pathname: route.path }),
    }))
    const matching = patterns.filter((pattern) => pattern.path.test({ pathname: path }))
    const methods = new Set(matching.flatMap((pattern) => pattern.methods))
    return methods.size === 0 ? undefined : [...methods, 'OPTIONS'].join(', ')
  }
}

/** The error for an unmatched request: 404, or 405 if the path has other methods. */
export function unknownRoute(method: string, path: string, allow: string | undefined) {
  if (allow === undefined || allow.split(', ').includes(method)) {
    return new GatewayError('not_found', `${method} ${path} does not exist`)
  }
  return new GatewayError('invalid_request', `${path} takes ${allow}, not ${method}`, {
    status: 405,
    headers: { allow },
  })
}
