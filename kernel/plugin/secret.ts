import { inspect } from 'node:util'

const MASK = '[secret]'

/**
 * A value that no log line, template string, JSON text or debugger dump can show.
 *
 * @example const headers = { authorization: `Bearer ${config.token.reveal()}` }
 */
export class Secret {
  readonly #value: string
  readonly #read: (() => Promise<string>) | undefined
  /** `read`: how the value is read again, where its place can change while the process runs. */
  constructor(value: string, read?: () => Promise<string>) {
    this.#value = value
    this.#read = read
  }
  /** The value itself. Call it where the value is used, and keep the result nowhere. */
  reveal(): string {
    return this.#value
  }
  /**
   * As `reveal`, but the value of a file is the one that the file holds now. Throws an Error for
   * operators, which shows no value, when the file cannot be read.
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
