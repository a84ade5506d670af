/** A fault in a call of a part of a plugin, or of what calls it. */
export type Fault =
  | { readonly kind: 'throw'; readonly error?: unknown }
  /** The call never ends, whatever its signal says. */
  | { readonly kind: 'hang' }
  /** The call ends well, this many milliseconds later than it would. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The call changes the objects that it was given, then goes on. */
  | { readonly kind: 'mutate' }
  /** The call throws an error that shows this text. */
  | { readonly kind: 'leak'; readonly secret: string }
  /** The call gives this in the place of what it should. */
  | { readonly kind: 'return'; readonly value: unknown }

type Calls<T> = { readonly [K in keyof T]-?: NonNullable<T[K]> extends Method ? K : never }[keyof T]
type Method = (...args: never[]) => unknown

/**
 * The same part, with a fault in one of its calls: a capability that a plugin is set up with, so
 * that its author sees what it makes of that, or an implementation, to see that a test catches it.
 */
export function withFault<T extends object>(part: T, call: Calls<T> & string, fault: Fault): T {
  const sound: unknown = part[call]
  if (typeof sound !== 'function') throw new Error(`there is no call ${call} to spoil`)
  const go = (args: unknown[]): unknown => Reflect.apply(sound, part, args)
  function spoilt(...args: unknown[]): unknown {
    switch (fault.kind) {
      case 'throw':
        throw fault.error ?? new Error('a fault on purpose')
      case 'leak':
        throw new Error(`refused: ${fault.secret}`)
      case 'hang':
        return new Promise(() => {})
      case 'late':
        return Bun.sleep(fault.ms).then(() => go(args))
      case 'mutate':
        for (const arg of args) spoil(arg)
        return go(args)
      case 'return':
        return fault.value
    }
  }
  return new Proxy(part, {
    get: (target, key) => (key === call ? spoilt : Reflect.get(target, key, target)),
  })
}

/** Writes into every plain object and list that can be reached, frozen or not. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
  if (!plain) return
  for (const part of Object.values(value)) spoil(part)
  Object.assign(value, { spoilt: true })
}
