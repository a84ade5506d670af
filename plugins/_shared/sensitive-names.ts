/**
 * What makes a name sensitive: one of these at the end of any of its words, in singular or plural, with
 * its words joined in any way. `docs/operations.md` lists them.
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

/** Shorter ones, which have to be a whole word. */
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

/** Names that end so count or describe a secret, as `token_count` and `password_length` do. */
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

/** Before `tokens` they say that these are secrets, and not what a model counts. */
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
 * What a name says of its value. Of `secret` nothing is kept. `counted` is plural as usage is, such as
 * `max_tokens`: only a text is a secret then, and lists and objects may hold usage themselves.
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

/** What a name without any of these is, is plain. It keeps most names from being taken apart. */
const STEM =
  /token|secret|passw|passphrase|passcode|credential|auth|bearer|cookie|session|sig|key|assertion|connection|recovery|webhook|csrf|xsrf|dsn|jwt|otp|pwd|[^ -~]/i

/** Nearly all names have been seen before. */
const kinds = new Map<string, NameKind>()
const MOST_KINDS = 4_096
const LONGEST_NAME = 128

/** What a name says of its value; longer names than 128 characters are texts. */
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

/** Whether a name says that this value is a secret; true, false and null never are. */
export function isSecretMember(name: string, value: unknown): boolean {
  const kind = nameKind(name)
  if (kind === 'plain' || typeof value === 'boolean' || value === null) return false
  return kind === 'secret' || typeof value === 'string'
}

/** Headers are texts. */
export const isSensitiveHeader = (name: string): boolean => nameKind(name) !== 'plain'

/** Of a URL, where `key` alone is one, too. */
export const isSensitiveParameter = (name: string): boolean =>
  nameKind(name) === 'secret' || name.toLowerCase() === 'key'

/** The form in which names are compared with those of a config. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}

function kindOfName(name: string): NameKind {
  const plain = name.normalize('NFKC')
  const camelCase = plain
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
  const kind = kindOfWords(camelCase)
  // `APIkey` and `aPi_KEY` have their words in lower case only.
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
