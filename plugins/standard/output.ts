export interface Output {
  write(line: string): void
  /**
   * Why the output is incomplete. A closed pipe is not a fault, because the reader has seen enough.
   */
  fault(): Promise<Error | undefined>
}

/** Standard output. */
export function openOutput(): Output {
  const { stdout } = process
  let fault: NodeJS.ErrnoException | undefined
  let written: Promise<unknown> = Promise.resolve()
  // An error event without a listener would be printed with its stack.
  stdout.on('error', () => {})
  return {
    write(line) {
      const { promise, resolve } = Promise.withResolvers<void>()
      stdout.write(`${line}\n`, (error) => {
        fault ??= error ?? undefined
        resolve()
      })
      written = Promise.all([written, promise])
    },
    async fault() {
      await written
      return fault?.code === 'EPIPE' ? undefined : fault
    },
  }
}
