import type { KnownProvider } from '../_shared/environment.ts'

export const gemini: KnownProvider = {
  type: 'gemini',
  name: 'Google Gemini',
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  address: 'base_url',
  smallModel: 'gemini-flash-lite-latest',
  page: 'https://aistudio.google.com/apikey',
  // AI Studio and Vertex AI have the same models and prices, so they share a price list.
  pricing: 'google-vertex',
}
