import { createHash, randomBytes } from 'node:crypto'

/** Maximum length of a key; seeded keys may be longer than generated ones. */
const MAX_LENGTH = 512
const FORMAT = /^gwk_([a-z2-7]{16,})\.([A-Za-z0-9_-]{43,})$/
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

export interface ParsedKey {
  /** Finds the key; no secret. */
  readonly publicId: string
  readonly secret: string
}

/** The parts of `gwk_<public id>.<secret>`, or `undefined` for another format. */
export function parseKey(raw: string): ParsedKey | undefined {
  if (raw.length > MAX_LENGTH) return undefined
  const [, publicId, secret] = FORMAT.exec(raw) ?? []
  return publicId === undefined || secret === undefined ? undefined : { publicId, secret }
}

/** SHA-256, not a slow hash, because the secret has 256 random bits. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/**
 * Generates a key: a public id of 80 random bits, unless one is given, a secret of 256 random bits,
 * and the hexadecimal hash of the secret for storage.
 */
export function generateKey(publicId = randomPublicId()) {
  const secret = randomBytes(32).toString('base64url')
  const secretHash = hashSecret(secret).toString('hex')
  return { raw: `gwk_${publicId}.${secret}`, publicId, secret, secretHash }
}

function randomPublicId(): string {
  return Array.from(randomBytes(16), (byte) => ALPHABET[byte & 31]).join('')
}
