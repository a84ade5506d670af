export function routeId(model: string, provider: string, upstreamModel: string): string {
  return `${model}/${provider}/${upstreamModel}`
}
