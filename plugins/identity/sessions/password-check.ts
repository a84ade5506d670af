import { GatewayError } from 'model-gateway/plugin'
import { createTurns } from '../../_shared/turns.ts'
import { hashPassword } from '../_shared/password.ts'

/** Comparisons at once, each of which takes 64 MiB; and how many more may wait for their turn. */
const AT_ONCE = 2
const WAITING = 64

export interface PasswordCheck {
  /** As slow without a hash as with one. */
  matches(password: string, hash: string | null | undefined): Promise<boolean>
}

export function createPasswordCheck(): PasswordCheck {
  let decoy: Promise<string> | undefined
  const turns = createTurns(AT_ONCE)
  let underWay = 0

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (underWay === AT_ONCE + WAITING) {
      throw new GatewayError('invalid_credentials', 'too many sign-ins at once; try again', {
        headers: { 'retry-after': '5' },
      })
    }
    underWay++
    try {
      return await turns.run(work)
    } finally {
      underWay--
    }
  }

  return {
    matches: (password, hash) =>
      inTurn(async () => {
        decoy ??= hashPassword(crypto.randomUUID())
        const made = await decoy
        const right = await Bun.password.verify(password.normalize(), hash ?? made)
        return right && typeof hash === 'string'
      }),
  }
}
