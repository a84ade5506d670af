/** What `work` comes to, if that takes no longer than `ms`; undefined: it goes on, and nobody waits. */
export async function inTime<T>(
  work: Promise<T>,
  ms: number,
): Promise<{ readonly value: T } | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(late.resolve, ms)
  try {
    return await Promise.race([work.then((value) => ({ value })), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
