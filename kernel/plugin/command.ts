/** A sub-command of `gateway` that a plugin brings, run with the database up and no server. */
export interface Command {
  /** Words after `gateway`: `keys create`. */
  readonly name: string
  readonly summary: string
  /** The arguments, as shown in the help: `--user EMAIL | --service-account KEY`. */
  readonly usage: string
  /** Prints with `out`; throws UsageError for wrong arguments. */
  run(args: readonly string[], out: (line: string) => void): Promise<void>
}

/** Wrong arguments: the message is printed with the usage, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Lines for the banner of a quick start, such as a key that is shown once. */
export interface Welcome {
  lines(baseUrl: string): Promise<readonly string[]>
}
