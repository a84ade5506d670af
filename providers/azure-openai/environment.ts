import type { KnownProvider } from '../_shared/environment.ts'

export const azureOpenai: KnownProvider = {
  type: 'azure_openai',
  name: 'Azure OpenAI',
  keys: ['AZURE_OPENAI_API_KEY'],
  needs: { endpoint: 'AZURE_OPENAI_ENDPOINT' },
  address: 'endpoint',
  // A deployment, which is often named like its model.
  smallModel: 'gpt-5-mini',
  page: 'https://learn.microsoft.com/azure/ai-foundry/openai/reference',
  pricing: 'azure',
}
