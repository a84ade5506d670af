import { httpRoutesOf } from '../../../kernel/boot/extensions.ts'
import { createApp } from '../../../kernel/http/app.ts'
import { spellingsOf, surfaces } from '../../../kernel/plugin/index.ts'
import type { Registry } from '../../../kernel/registry/registry.ts'

const unused = () => {
  throw new Error('only the routes are looked at')
}
const bodyLimits = { maxBytes: 0, timeoutMs: 0 }

/** All routes of the door, as `METHOD path`, with those that plugins bring. */
export function routesOf(registry: Registry): string[] {
  const app = createApp({
    infer: unused,
    bodyLimits,
    limitIdle: unused,
    streams: unused,
    fault: unused,
    httpRoutes: [],
    surfaces: registry.all(surfaces),
    limitAgain: unused,
    door: { requireOwnHost: unused },
    health: { live: unused, ready: unused },
  })
  const routes = [...app.routes, ...httpRoutesOf(registry)]
  const paths = registry.all(surfaces).flatMap((surface) => surface.paths)
  const others = new Set(paths.flatMap((path) => spellingsOf(path).slice(1)))
  return routes
    .filter(({ path }) => !others.has(path))
    .map(({ method, path }) => `${method} ${path}`)
}
