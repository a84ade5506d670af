import type { Fields } from '../config/fields.ts'
import { type Family, families, type RouteFlag, routeFlags } from '../plugin/index.ts'

/** What a route may support beside its families. */
const flags = routeFlags.filter((flag): flag is Exclude<RouteFlag, Family> => !isFamily(flag))

function isFamily(name: unknown): boolean {
  return (families as readonly unknown[]).includes(name)
}

/** What keeps a value from being a bound route; `undefined` when nothing does. */
export function boundRouteFault(value: unknown): string | undefined {
  if (value instanceof Promise) return 'bind returned a promise: a route is bound at once'
  if (typeof value !== 'object' || value === null) return 'bind returned no route'
  const route = value as Fields
  const { supports, pricing } = route
  if (!Array.isArray(supports)) return 'the route has no list supports'
  const unknown = supports.find((flag) => !(flags as readonly unknown[]).includes(flag))
  if (unknown !== undefined) {
    return `its supports names "${String(unknown)}", which is none of ${flags.join(', ')}`
  }
  if (typeof (pricing as Fields | undefined)?.model !== 'string') {
    return 'the route has no pricing with a model'
  }
  const odd = families.find((family) => !['undefined', 'function'].includes(typeof route[family]))
  if (odd !== undefined) return `its ${odd} is no function`
  if (families.every((family) => route[family] === undefined)) {
    return `the route has none of ${families.join(', ')}`
  }
  return undefined
}
