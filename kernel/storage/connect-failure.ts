const NO_CA = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/

/** Why a connection failed, for the operator, with a remedy if the error suggests one. */
export function connectFailure(error: unknown, url: string): string {
  const { code, message } = error as { code?: string; message?: string }
  const told = [code, message].filter((part) => part !== undefined && part !== '').join(' ')
  if (code === undefined) return told
  if (NO_CA.test(code)) {
    return `${told}; start the gateway with NODE_EXTRA_CA_CERTS set to the file with its CA`
  }
  const mode = new URL(url).searchParams.get('sslmode') ?? 'disable'
  return code === 'ECONNRESET' && mode !== 'disable'
    ? `${told}; sslmode requires TLS, which the server may not support`
    : told
}
