import type { HookFormat } from './hooks.ts'

export interface AskOptions {
  readonly timeoutMs: number
  readonly proxy: string | undefined
  /** Trusted CAs in PEM; undefined: those of the runtime. */
  readonly ca: string | undefined
}

/** Why the gateway gave no answer and how to fix it, for the agent and its user. */
export interface Away {
  readonly away: string
}

const PATH = '/api/v1/guardrails/evaluate'
/** Error codes of the gateway for a rejected key. */
const KEY_ERROR = /^(?:api_key|invalid_api_key|invalid_authorization|missing_authorization)_\w+$/

/**
 * Asks the gateway about a tool call. With a format, call and answer are in the format of that
 * agent. `isAnswer` checks that the text is an answer of a gateway.
 */
export async function askGateway(
  call: string,
  format: HookFormat | undefined,
  { timeoutMs, proxy, ca }: AskOptions,
  env: Readonly<Record<string, string | undefined>>,
  isAnswer: (text: string) => boolean,
): Promise<{ readonly answer: string } | Away> {
  const base = env.GATEWAY_URL?.replace(/\/+$/, '') || 'http://127.0.0.1:8080'
  const url = URL.parse(base + PATH + (format === undefined ? '' : `?format=${format}`))
  if (url === null)
    return away('GATEWAY_URL is not a URL', 'Set it to a URL such as https://host:8080')
  const where = `the gateway at ${url.origin}`
  const key = env.GATEWAY_API_KEY
  if (key === undefined || key === '') {
    return away(
      'GATEWAY_API_KEY is not set',
      `Set it in the environment of the agent to an API key of ${where}`,
    )
  }
  try {
    const response = await fetch(url, {
      ...(proxy === undefined ? {} : { proxy }),
      ...(url.protocol === 'https:' && { tls: await trusted(ca) }),
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: call,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const answer = await response.text()
    if (response.status === 401) {
      const what = `${where} refuses the key in GATEWAY_API_KEY (${keyError(answer)})`
      return away(what, 'Set it in the environment of the agent to a valid API key')
    }
    if (response.status !== 200) {
      return away(
        `${where} answered with status ${response.status}`,
        'The log of the gateway says why',
      )
    }
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    if (isJson && isAnswer(answer)) return { answer }
    return away(
      `the server at ${url.origin} is not a gateway`,
      'Set GATEWAY_URL to the address of the gateway',
    )
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown }
    if (name === 'TimeoutError') return away(`${where} did not answer within ${timeoutMs} ms`)
    const what = `${where} cannot be reached (${String(code ?? name)})`
    return away(what, 'Start it, or set GATEWAY_URL to its address')
  }
}

const away = (what: string, fix = 'Try again later'): Away => ({ away: `${what}. ${fix}.` })

/** The error code in the answer, if it is a known code for keys. */
function keyError(answer: string): string {
  try {
    const { error } = JSON.parse(answer) as { error?: { code?: unknown } }
    const code = String(error?.code)
    return KEY_ERROR.test(code) ? code : 'status 401'
  } catch {
    return 'status 401'
  }
}

/** Set explicitly, because variables such as NODE_EXTRA_CA_CERTS would add CAs. */
async function trusted(ca: string | undefined): Promise<Bun.TLSOptions> {
  const cas = ca ?? [...(await import('node:tls')).rootCertificates]
  return { ca: cas, rejectUnauthorized: true }
}
