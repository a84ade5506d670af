import { GatewayError } from 'model-gateway/plugin'
import { createTurns } from '../../_shared/turns.ts'
import { hashPassword } from '../_shared/password.ts'
import { errors } from './errors.ts'

/**
 * Concurrent comparisons, each of which takes 64 MiB, and the length of the queues. Known devices
 * have a separate queue from strangers.
 */
const LANES = {
  strangers: { atOnce: 2, waiting: 64 },
  known: { atOnce: 1, waiting: 16 },
}

export interface PasswordCheck {
  /** Takes as long without a hash as with one. Throws `too_many_attempts`. */
  matches(
    password: string,
    hash: string | null | undefined,
    lane: keyof typeof LANES,
  ): Promise<boolean>
}

export function createPasswordCheck(): PasswordCheck {
  let decoy: Promise<string> | undefined
  const lanes = { strangers: createLane(LANES.strangers), known: createLane(LANES.known) }
  return {
    matches: (password, hash, lane) =>
      lanes[lane](async () => {
        decoy ??= hashPassword(crypto.randomUUID())
        const made = await decoy
        const right = await Bun.password.verify(password.normalize(), hash ?? made)
        return right && typeof hash === 'string'
      }),
  }
}

function createLane({ atOnce, waiting }: { readonly atOnce: number; readonly waiting: number }) {
  const turns = createTurns(atOnce)
  let underWay = 0
  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (underWay === atOnce + waiting) {
      throw new GatewayError(
        errors.too_many_attempts,
        'too many sign-ins at once; try again in 5 s',
        {
          headers: { 'retry-after': '5' },
        },
      )
    }
    underWay++
    try {
      return await turns.run(work)
    } finally {
      underWay--
    }
  }
}
