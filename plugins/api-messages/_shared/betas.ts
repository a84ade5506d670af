/** The betas of a call as headers that are part of it; undefined for none. */
export function betaHeaders(betas: string | null): Readonly<Record<string, string>> | undefined {
  return betas === null || betas.trim() === '' ? undefined : { 'anthropic-beta': betas }
}
