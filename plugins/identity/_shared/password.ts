import { Type } from 'model-gateway/plugin'

const SHORTEST = 12
const LONGEST = 256

/** A password that is being set. */
export const NewPassword = Type.String({
  minLength: SHORTEST,
  maxLength: LONGEST,
  description: `${SHORTEST} to ${LONGEST} characters`,
  errorMessage: `must have ${SHORTEST} to ${LONGEST} characters`,
})

/** What is wrong with a new password, if anything. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < SHORTEST) return `must have at least ${SHORTEST} characters`
  return password.length > LONGEST ? `must have at most ${LONGEST} characters` : undefined
}

export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password.normalize(), 'argon2id')
}
