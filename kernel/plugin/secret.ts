import { inspect } from 'node:util'

const MASK = '[secret]'

/** A value that no log line, template string, JSON text or debugger dump can show. */
export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  /** The value itself. Call it where the value is used, and keep the result nowhere. */
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return MASK
  }
  toJSON(): string {
    return MASK
  }
  [inspect.custom](): string {
    return MASK
  }
}
