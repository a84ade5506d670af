/**
 * Words that make a name sensitive if one of its words ends with them, in singular or plural,
 * joined in any way. `docs/operations.md` lists them.
 */
export const sensitiveEndings = [
  'token',
  'secret',
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'credential',
  'authorization',
  'bearer',
  'cookie',
  'signature',
  'api key',
  'access key',
  'account key',
  'auth key',
  'encryption key',
  'functions key',
  'master key',
  'private key',
  'secret key',
  'session key',
  'shared key',
  'signing key',
  'ssh key',
  'subscription key',
  'client assertion',
  'connection string',
  'recovery code',
  'session id',
  'webhook url',
]

/** Shorter ones, which must be a whole word. */
export const sensitiveWords = [
  'auth',
  'authentication',
  'csrf',
  'dsn',
  'jwt',
  'otp',
  'pwd',
  'session',
  'sig',
  'totp',
  'xsrf',
]

/**
 * Names with these endings count or describe a secret, such as `token_count` and `password_length`.
 */
export const countingWords = [
  'budget',
  'cost',
  'count',
  'details',
  'expires at',
  'expires in',
  'expiry',
  'length',
  'limit',
  'price',
  'rate',
  'size',
  'token id',
  'ttl',
  'type',
  'usage',
  'version',
]

/** Before `tokens` they mean secrets, not the tokens of a model. */
const secretTokens = [
  'access',
  'api',
  'auth',
  'bearer',
  'bot',
  'csrf',
  'id',
  'oauth',
  'refresh',
  'secret',
  'security',
  'session',
  'xsrf',
]

/**
 * What a name tells about its value. `secret` values are never stored. `counted` names are plural
 * like usage, such as `max_tokens`: then only text is a secret, and lists and objects may contain
 * usage.
 */
export type NameKind = 'plain' | 'counted' | 'secret'

const anyOf = (names: readonly string[]) =>
  names.map((name) => name.replaceAll(' ', ' ?')).join('|')

const SENSITIVE = new RegExp(
  `(?:${anyOf(sensitiveEndings)})s?(?= |$)|(?:^| )(?:${anyOf(sensitiveWords)})s?(?= |$)`,
)
const COUNTING = new RegExp(`(?:^| )(?:${anyOf(countingWords)})s?$`)
const TOKENS = /tokens(?= |$)/g
const SECRET_TOKENS = new RegExp(`(?:${secretTokens.join('|')}) ?tokens(?= |$)`)

/** A name without any of these is plain; this test saves splitting most names. */
const STEM =
  /token|secret|passw|passphrase|passcode|credential|auth|bearer|cookie|session|sig|key|assertion|connection|recovery|webhook|csrf|xsrf|dsn|jwt|otp|pwd|[^ -~]/i

/** Cached, because nearly all names repeat. */
const kinds = new Map<string, NameKind>()
const MOST_KINDS = 4_096
const LONGEST_NAME = 128

/** What a name tells about its value; names longer than 128 characters are treated as text. */
export function nameKind(name: string): NameKind {
  if (name.length > LONGEST_NAME) return 'plain'
  let kind = kinds.get(name)
  if (kind === undefined) {
    kind = STEM.test(name) ? kindOfName(name) : 'plain'
    if (kinds.size === MOST_KINDS) kinds.clear()
    kinds.set(name, kind)
  }
  return kind
}

/** Whether a name makes this value a secret; true, false and null never are. */
export function isSecretMember(name: string, value: unknown): boolean {
  const kind = nameKind(name)
  if (kind === 'plain' || typeof value === 'boolean' || value === null) return false
  return kind === 'secret' || typeof value === 'string'
}

/** Header values are text. */
export const isSensitiveHeader = (name: string): boolean => nameKind(name) !== 'plain'

/** For a URL, where `key` alone is a secret too. */
export const isSensitiveParameter = (name: string): boolean =>
  nameKind(name) === 'secret' || name.toLowerCase() === 'key'

/** The form in which names are compared with configured ones. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

function kindOfName(name: string): NameKind {
  const plain = name.normalize('NFKC')
  const camelCase = plain
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
  const kind = kindOfWords(camelCase)
  // The words of `APIkey` and `aPi_KEY` can only be found in lower case.
  return kind === 'plain' && camelCase !== plain ? kindOfWords(plain) : kind
}

function kindOfWords(text: string): NameKind {
  const words = text
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ' ')
    .trim()
  if (!SENSITIVE.test(words) || COUNTING.test(words)) return 'plain'
  const others = words.replaceAll(TOKENS, '')
  if (others === words || SECRET_TOKENS.test(words) || SENSITIVE.test(others)) return 'secret'
  return 'counted'
}
