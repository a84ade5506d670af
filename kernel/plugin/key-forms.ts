/** A kind of credential that is recognisable by its form. */
interface KeyForm {
  /** Its beginning, as shown in the documentation. */
  readonly begins: string
  /** The source of a regular expression. */
  readonly pattern: string
}

/** Characters of keys and those often next to them. */
const KEY = String.raw`[\w.~+/=-]`

/** `docs/operations.md` lists these. */
export const keyForms: readonly KeyForm[] = [
  { begins: 'sk-…', pattern: `sk-${KEY}{8,}` },
  { begins: 'sk_live_…', pattern: String.raw`[prs]k_(?:live|test)_\w{8,}` },
  { begins: 'whsec_…', pattern: String.raw`whsec_[\w+/=-]{16,}` },
  { begins: 'gsk_…', pattern: String.raw`gsk_\w{16,}` },
  { begins: 'xai-…', pattern: String.raw`xai-\w{16,}` },
  { begins: 'pplx-…', pattern: String.raw`pplx-\w{16,}` },
  { begins: 'r8_…', pattern: String.raw`r8_\w{16,}` },
  { begins: 'hf_…', pattern: '(?:api_)?hf_[A-Za-z0-9]{16,}' },
  { begins: 'AIza…', pattern: `AIza${KEY}{8,}` },
  { begins: 'ya29.…', pattern: String.raw`ya29\.${KEY}{8,}` },
  { begins: 'GOCSPX-…', pattern: String.raw`GOCSPX-[\w-]{16,}` },
  { begins: 'AKIA…', pattern: 'A[KS]IA[A-Za-z0-9]{8,}' },
  { begins: 'ghp_…', pattern: String.raw`gh[oprsu]_\w{16,}` },
  { begins: 'github_pat_…', pattern: String.raw`github_pat_\w{16,}` },
  { begins: 'glpat-…', pattern: String.raw`gl(?:pat|dt|rt|ptt|cbt|soat)-[\w.-]{16,}` },
  { begins: 'xoxb-…', pattern: String.raw`xox[a-z]-[\w.-]{8,}` },
  { begins: 'xapp-…', pattern: String.raw`xapp-[\w-]{16,}` },
  {
    begins: 'hooks.slack.com/…',
    pattern: String.raw`hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{8,}`,
  },
  {
    begins: 'discord.com/api/webhooks/…',
    pattern: String.raw`discord(?:app)?\.com/api/webhooks/\d{1,32}/[\w-]{16,}`,
  },
  { begins: 'npm_…', pattern: 'npm_[A-Za-z0-9]{16,}' },
  { begins: 'pypi-…', pattern: String.raw`pypi-[\w-]{16,}` },
  { begins: 'SG.…', pattern: String.raw`SG\.[\w-]{16,64}\.[\w-]{16,}` },
  { begins: 'dop_v1_…', pattern: String.raw`do[opr]_v1_\w{16,}` },
  { begins: 'shpat_…', pattern: String.raw`shp(?:at|ca|pa|ss)_\w{16,}` },
  { begins: 'hvs.…', pattern: String.raw`hv[bs]\.[\w-]{16,}` },
  { begins: 'AGE-SECRET-KEY-…', pattern: String.raw`AGE-SECRET-KEY-\w{16,}` },
  // The lookbehind prevents quadratic time on long runs of key characters.
  {
    begins: 'eyJ….eyJ….…',
    pattern: String.raw`(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}`,
  },
]

/** Finds keys in a run of key characters. Gateway keys count anywhere in it. */
const IN_RUN = new RegExp(
  `gwk_${KEY}{8,}|(?<![A-Za-z0-9])(?:${keyForms.map(({ pattern }) => pattern).join('|')})`,
  'g',
)
const BEARER = /(?<![A-Za-z0-9])bearer\s{1,8}[\w.~+/=-]{8,}/gi
/** A credential if it decodes to user and password; not `basic information`. */
const BASIC = /(?<![A-Za-z0-9])basic\s{1,8}([\w+/-]{6,}={0,2})/gi
const SCHEME_HINT = /b(?:earer|asic)\s/i
/** `://user:password@host` */
const USER_INFO = /:\/\/([^\s/?#@]{1,512})@/g
const PEM_HINT = '-----BEGIN '
const PEM =
  /-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----|$)/g

/** The minimum length of a key. */
const SHORTEST = 12

/**
 * Calls `found` with start and end of each credential that is recognisable by its form. Takes
 * linear time: one pass over the text, and only long runs of key characters are examined.
 */
export function findKeys(text: string, found: (start: number, end: number) => void): void {
  for (let at = SHORTEST - 1; at < text.length; at += SHORTEST) {
    // A run of the minimum length contains one of these positions.
    if (!isKeyCharacter(text.charCodeAt(at))) continue
    let start = at
    while (start > 0 && isKeyCharacter(text.charCodeAt(start - 1))) start--
    while (at < text.length && isKeyCharacter(text.charCodeAt(at))) at++
    if (at - start < SHORTEST) continue
    for (const { index, 0: key } of text.slice(start, at).matchAll(IN_RUN)) {
      found(start + index, start + index + key.length)
    }
  }
  if (text.includes('://')) {
    for (const { index, 0: whole, 1: user = '' } of text.matchAll(USER_INFO)) {
      const end = index + whole.length - 1
      found(end - user.length, end)
    }
  }
  if (SCHEME_HINT.test(text)) {
    for (const { index, 0: whole } of text.matchAll(BEARER)) found(index, index + whole.length)
    for (const { index, 0: whole, 1: pair = '' } of text.matchAll(BASIC)) {
      if (isUserAndPassword(pair)) found(index + whole.length - pair.length, index + whole.length)
    }
  }
  if (text.includes(PEM_HINT)) {
    for (const { index, 0: whole } of text.matchAll(PEM)) found(index, index + whole.length)
  }
}

/** Masks the credentials that are recognisable by their form. */
export function maskCredentials(text: string): string {
  const keys: [start: number, end: number][] = []
  findKeys(text, (start, end) => keys.push([start, end]))
  if (keys.length === 0) return text
  keys.sort(([a], [b]) => a - b)
  let masked = ''
  let at = 0
  for (const [start, end] of keys) {
    if (start >= at) masked += `${text.slice(at, start)}[redacted]`
    at = Math.max(at, end)
  }
  return masked + text.slice(at)
}

const keyCharacters = new Uint8Array(128)
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.~+/=-') {
  keyCharacters[character.charCodeAt(0)] = 1
}

function isKeyCharacter(code: number): boolean {
  return code < 128 && keyCharacters[code] === 1
}

function isUserAndPassword(base64: string): boolean {
  const pair = Buffer.from(base64, 'base64').toString('utf8')
  return pair.includes(':') && !/[\p{C}\ufffd]/u.test(pair)
}
