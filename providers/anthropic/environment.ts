import type { KnownProvider } from '../_shared/environment.ts'

export const anthropic: KnownProvider = {
  type: 'anthropic',
  name: 'Anthropic',
  keys: ['ANTHROPIC_API_KEY'],
  address: 'base_url',
  smallModel: 'claude-haiku-4-5',
  page: 'https://console.anthropic.com/settings/keys',
  pricing: 'anthropic',
}
