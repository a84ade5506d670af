import { GatewayError } from '../plugin/index.ts'

interface Route {
  readonly method: string
  readonly path: string
}

/** The methods that a path has. `routes` is asked when the first request comes that none took. */
export function createMethods(routes: () => readonly Route[]) {
  let patterns: { methods: readonly string[]; path: URLPattern }[] | undefined
  return (path: string): readonly string[] => {
    patterns ??= routes().map((route) => ({
      methods: route.method === 'GET' ? ['GET', 'HEAD'] : [route.method],
      path: new URLPattern({ pathname: route.path }),
    }))
    const matching = patterns.filter((pattern) => pattern.path.test({ pathname: path }))
    return [...new Set(matching.flatMap((pattern) => pattern.methods))]
  }
}

/** What is said of a request that no route took: 404, or 405 with the methods that its path has. */
export function unknownRoute(
  method: string,
  path: string,
  methods: readonly string[],
): GatewayError {
  if (methods.length === 0 || methods.includes(method)) {
    return new GatewayError('not_found', `there is no ${method} ${path}`)
  }
  const allow = methods.join(', ')
  return new GatewayError('invalid_request', `${path} takes ${allow}, not ${method}`, {
    status: 405,
    headers: { allow },
  })
}
