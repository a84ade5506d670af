/**
 * Returns the value of `work` if it settles before `limit` (milliseconds, or a signal's abort),
 * otherwise undefined. The work then goes on and its outcome is ignored. Rejects as `work` does.
 *
 * @example
 * const looked = await inTime(lookUp(name), 5_000)
 * if (looked === undefined) throw new Error('the look-up took more than 5,000 ms')
 */
export async function inTime<T>(
  work: Promise<T>,
  limit: number | AbortSignal,
): Promise<{ readonly value: T } | undefined> {
  const late = Promise.withResolvers<undefined>()
  const giveUp = () => late.resolve(undefined)
  const [timer, signal] =
    typeof limit === 'number' ? [setTimeout(giveUp, limit), undefined] : [undefined, limit]
  if (signal?.aborted) giveUp()
  signal?.addEventListener('abort', giveUp, { once: true })
  try {
    return await Promise.race([work.then((value) => ({ value })), late.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
  }
}
