import { GatewayError } from 'model-gateway/plugin'
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
  let running = 0
  const queue: (() => void)[] = []

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= AT_ONCE) {
      if (queue.length >= WAITING) {
        throw new GatewayError('invalid_credentials', 'too many sign-ins at once; try again', {
          headers: { 'retry-after': '5' },
        })
      }
      await new Promise<void>((resolve) => queue.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) running--
      else next()
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
