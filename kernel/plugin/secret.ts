import { inspect } from 'node:util'

const MASK = '[secret]'

/**
 * A secret value that log lines, template strings, JSON and debugger output do not show.
 *
 * @example const headers = { authorization: `Bearer ${config.token.reveal()}` }
 */
export class Secret {
  readonly #value: string
  readonly #read: (() => Promise<string>) | undefined
  /** `read`: reads the value again, if it can change while the process runs. */
  constructor(value: string, read?: () => Promise<string>) {
    this.#value = value
    this.#read = read
  }
  /** Returns the value. Call it where the value is used, and do not keep the result. */
  reveal(): string {
    return this.#value
  }
  /**
   * As `reveal`, but reads a secret file again. Throws an Error for operators, without the value,
   * if the file cannot be read.
   */
  async revealCurrent(): Promise<string> {
    return this.#read === undefined ? this.#value : this.#read()
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
