/** The pages by reader, in the order of docs/README.md. */
const call = [
  { text: 'Claude Code in 5 minutes', link: '/tutorials/claude-code' },
  { text: 'Clients', link: '/clients' },
  { text: 'Public APIs', link: '/apis' },
  { text: 'Messages API', link: '/messages' },
  { text: 'Batches', link: '/batches' },
  { text: 'Errors', link: '/errors' },
  { text: 'Dropped parameters', link: '/dropped-parameters' },
]
const administer = [
  { text: 'Budgets for a team', link: '/tutorials/team-budgets' },
  { text: 'A guardrail for agents', link: '/tutorials/guardrail-for-agents' },
  { text: 'Console', link: '/console' },
  { text: 'Admin API', link: '/admin' },
  { text: 'Providers and models', link: '/managed-config' },
  { text: 'Budgets', link: '/budgets' },
  { text: 'Guardrails', link: '/guardrails' },
  { text: 'Managed checks', link: '/managed-checks' },
  { text: 'MCP servers', link: '/mcp' },
  { text: 'Invoices', link: '/invoices' },
  { text: 'FOCUS export', link: '/focus' },
]
const extend = [
  { text: 'Your first plugin', link: '/tutorials/first-plugin' },
  { text: 'Plugins', link: '/plugins' },
  { text: 'Inspecting', link: '/inspecting' },
]
const operate = [
  { text: 'Operations', link: '/operations' },
  { text: 'Commands', link: '/commands' },
  { text: 'Configuration', link: '/configuration' },
  {
    text: 'Providers',
    link: '/providers/',
    collapsed: true,
    items: [
      { text: 'Anthropic', link: '/providers/anthropic' },
      { text: 'Azure OpenAI', link: '/providers/azure-openai' },
      { text: 'Bedrock', link: '/providers/bedrock' },
      { text: 'Cloud Run', link: '/providers/cloud-run' },
      { text: 'Gemini', link: '/providers/gemini' },
      { text: 'Vertex AI', link: '/providers/vertex-ai' },
    ],
  },
  { text: 'Scaling', link: '/scaling' },
  { text: 'Threat model', link: '/threat-model' },
]

export const nav = [
  { text: 'Call', items: call },
  { text: 'Administer', items: administer },
  { text: 'Extend', items: extend },
  { text: 'Operate', items: operate.map(({ text, link }) => ({ text, link })) },
]

export const sidebar = [
  { text: 'Call models', items: call },
  { text: 'Administer', items: administer },
  { text: 'Extend', items: extend },
  { text: 'Operate', items: operate },
]
