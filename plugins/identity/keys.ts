import { createHash, randomBytes } from 'node:crypto'

/** Longest key that is looked at; seeded ones may be longer than generated ones. */
const MAX_LENGTH = 512
const FORMAT = /^gwk_([a-z2-7]{16,})\.([A-Za-z0-9_-]{43,})$/
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

export interface ParsedKey {
  /** Finds the key; no secret. */
  readonly publicId: string
  readonly secret: string
}

/** The parts of `gwk_<public id>.<secret>`, or `undefined` when it is not of that form. */
export function parseKey(raw: string): ParsedKey | undefined {
  if (raw.length > MAX_LENGTH) return undefined
  const [, publicId, secret] = FORMAT.exec(raw) ?? []
  return publicId === undefined || secret === undefined ? undefined : { publicId, secret }
}

/** SHA-256: the input has 256 random bits, which needs no slow hash. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/**
 * A new key of 80 random bits public id, unless it is to be found by the one given, and 256 random
 * bits secret, with the hash in hexadecimal that is kept of it.
 */
export function generateKey(publicId = randomPublicId()) {
  const secret = randomBytes(32).toString('base64url')
  const secretHash = hashSecret(secret).toString('hex')
  return { raw: `gwk_${publicId}.${secret}`, publicId, secret, secretHash }
}

function randomPublicId(): string {
  return Array.from(randomBytes(16), (byte) => ALPHABET[byte & 31]).join('')
}
