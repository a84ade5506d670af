/**
 * How much the tests of this folder send and store. `GATEWAY_LONG=short` is what CI has time for; the
 * figures that count are those of the whole.
 */
const short = process.env.GATEWAY_LONG === 'short'

/** Whether figures are held against their limits: not where there is too little to measure. */
export const MEASURED = !short

/** How often the same is measured. */
export const rounds = (whole: number) => (short ? 1 : whole)

/** Requests in a database that lists and reports read. */
export const REQUESTS = Number(process.env.GATEWAY_LONG_REQUESTS ?? (short ? 100_000 : 10_000_000))

/** Minutes of load. */
export const MINUTES = Number(process.env.GATEWAY_LONG_MINUTES ?? (short ? 0.25 : 60))

/** Seconds for which something is left alone. */
export const REST_SECS = short ? 5 : 60
