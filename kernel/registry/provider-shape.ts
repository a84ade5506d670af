import type { Fields } from '../config/fields.ts'
import { features } from '../plugin/index.ts'

/** What keeps a value from being a bound route; `undefined` when nothing does. */
export function boundRouteFault(value: unknown): string | undefined {
  if (value instanceof Promise) return 'bind returned a promise: a route is bound at once'
  if (typeof value !== 'object' || value === null) return 'bind returned no route'
  const { supports, pricing, execute } = value as Fields
  if (!Array.isArray(supports)) return 'the route has no list supports'
  const unknown = supports.find((flag) => !(features as readonly unknown[]).includes(flag))
  if (unknown !== undefined) {
    return `its supports names "${String(unknown)}", which is none of ${features.join(', ')}`
  }
  if (typeof (pricing as Fields | undefined)?.model !== 'string') {
    return 'the route has no pricing with a model'
  }
  if (typeof execute !== 'object' || execute === null) return 'the route has no execute'
  const executors = Object.entries(execute).filter(([, one]) => one !== undefined)
  const odd = executors.find(([, one]) => typeof one !== 'function')
  if (odd !== undefined) return `its executor of "${odd[0]}" is no function`
  return executors.length === 0 ? 'the route executes no dialect' : undefined
}
