import { type Clock, type Command, type CommandSpec, UsageError } from 'model-gateway/plugin'
import { type Books, booksOf } from './books.ts'
import { createLanes, type Lane, resetLane } from './lanes.ts'
import type { OwnerStore } from './owner-store.ts'
import { createRandom } from './random.ts'
import type { Day, Store } from './store.ts'
import { type Lines, writeRequest } from './traffic.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DAYS = 31
/** Characters that are buffered before they are sent. */
const CHUNK = 64 * 1024
/** Requests between two checks of the buffer. */
const STRIDE = 32
const MOST = 100_000_000
const BAR = 30

export const seedDemo: CommandSpec = {
  name: 'seed-demo',
  summary: 'Fills the database with 31 days of sample traffic',
  usage: '[--requests N]',
}

export function createSeedCommand(
  store: Store & OwnerStore,
  clock: Clock,
  progress: (text: string) => void,
): Command {
  return {
    name: seedDemo.name,
    async run(args, out) {
      const requests = readArguments(args)
      const now = clock.now()
      const start = performance.now()
      const owners = await store.owners()
      const traffic = createLanes(owners)
      const random = createRandom(now.getTime())
      const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
      let written = 0
      /** While one day gets its indexes, the next one is being written. */
      let closing: Promise<void> = Promise.resolve()
      for (const { day, hours } of spread(requests, today, now)) {
        for (const lane of traffic.lanes) resetLane(lane)
        const open = await writeDay(day, hours)
        try {
          await closing
        } catch (error) {
          await open.cancel()
          throw error
        }
        const books = booksOf(traffic.lanes, day)
        closing = closeDay(open, books)
        closing.catch(() => {})
      }
      await closing
      await store.budgets(owners, now)
      await store.analyse()
      progress('\n')
      const secs = (performance.now() - start) / 1000
      out(
        `wrote ${requests} requests over ${DAYS} days in ${secs.toFixed(1)} s (${Math.round(requests / secs)} per second)`,
      )

      async function writeDay(day: number, hours: readonly number[]): Promise<Day> {
        const open = await store.openDay(day)
        const lines = noLines()
        try {
          for (const [hour, count] of hours.entries()) {
            const from = day + hour * HOUR_MS
            const length = Math.min(HOUR_MS, now.getTime() - from)
            for (let n = 0; n < count; n++) {
              const at = from + Math.floor(((n + random()) / count) * length)
              writeRequest(lines, laneAt(hour), at, random)
              written += 1
              if (written % STRIDE !== 0 || lines.logs.length < CHUNK) continue
              await open.write(lines)
              Object.assign(lines, noLines())
              progress(bar(written, requests, performance.now() - start))
            }
          }
          await open.write(lines)
          return open
        } catch (error) {
          await Promise.allSettled([open.cancel(), closing])
          throw error
        }
      }

      async function closeDay(open: Day, books: Books): Promise<void> {
        try {
          await open.close(books)
        } catch (error) {
          await open.cancel()
          throw error
        }
      }

      /** Service accounts also work at night. */
      function laneAt(hour: number): Lane {
        const share = hour >= 7 && hour < 20 ? 0.3 : 0.8
        return random() < share ? traffic.ofAccounts(random) : traffic.ofUsers(random)
      }
    },
  }
}

function readArguments(args: readonly string[]): number {
  if (args.length === 0) return 100_000
  const [flag, value, ...rest] = args.flatMap((arg) => arg.split('=', 2))
  if (flag !== '--requests') throw new UsageError(`unknown argument ${flag}`)
  const requests = Number(value)
  if (rest.length > 0 || !/^[1-9]\d*$/.test(value ?? '') || requests > MOST) {
    throw new UsageError(`--requests must be a number from 1 to ${MOST}`)
  }
  return requests
}

function noLines(): Lines {
  return { ledger: '', rejected: '', logs: '', attempts: '', tags: '', payloads: '' }
}

/** Requests per hour of each day: fewer at night and at weekends, more each week. */
function* spread(
  requests: number,
  today: number,
  now: Date,
): Iterable<{ readonly day: number; readonly hours: readonly number[] }> {
  const days = Array.from({ length: DAYS }, (_, n) => today - (DAYS - 1 - n) * DAY_MS)
  const weights = days.map((day) =>
    Array.from({ length: 24 }, (_, hour) => {
      const from = day + hour * HOUR_MS
      const passed = Math.min(1, Math.max(0, (now.getTime() - from) / HOUR_MS))
      const weekend = [0, 6].includes(new Date(day).getUTCDay()) ? 0.35 : 1
      const growth = 0.7 + (0.6 * (day - (days[0] as number))) / (DAYS * DAY_MS)
      return passed * weekend * growth * (hour >= 7 && hour < 20 ? 1 : 0.25)
    }),
  )
  const total = weights.flat().reduce((sum, weight) => sum + weight, 0)
  let upTo = 0
  let given = 0
  for (const [n, day] of days.entries()) {
    const hours = (weights[n] as number[]).map((weight) => {
      upTo += weight
      const count = Math.round((upTo / total) * requests) - given
      given += count
      return count
    })
    yield { day, hours }
  }
}

function bar(done: number, all: number, ms: number): string {
  const share = done / all
  const full = Math.round(share * BAR)
  const rate = Math.round((done / ms) * 1000)
  return `\r[${'#'.repeat(full)}${' '.repeat(BAR - full)}] ${Math.floor(share * 100)} % ${done} requests, ${rate} per second `
}
