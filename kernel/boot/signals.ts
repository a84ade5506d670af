/**
 * Aborts at the first SIGTERM or SIGINT, with the name of the signal as the reason. It then removes
 * its listeners, so that a second signal ends the process at once.
 */
export function listenForEnd(): AbortSignal {
  const controller = new AbortController()
  const names = ['SIGTERM', 'SIGINT'] as const
  const end = (name: string) => {
    for (const each of names) process.off(each, end)
    controller.abort(name)
  }
  for (const name of names) process.on(name, end)
  return controller.signal
}

/** Resolves when the signal aborts, or has aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/**
 * The result of `work`, unless the signal aborts first. Then rejects with its reason when the work
 * has ended, or after `patienceMs`.
 */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  patienceMs: number,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  if (signal === undefined) return await work()
  const late = aborted(signal).then(() => Bun.sleep(patienceMs))
  const result = await Promise.race([work(), late.then(() => signal.throwIfAborted() as never)])
  signal.throwIfAborted()
  return result
}
