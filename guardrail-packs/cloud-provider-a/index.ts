import { definePlugin, guardrailPacks, Type } from 'model-gateway/plugin'
import { commandPack } from '../_shared/command-pack.ts'
import { loadPostgresParser } from '../_shared/sql.ts'
import { executables, judgeCommand } from './commands.ts'
import { rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const cloudProviderA = commandPack({
  id: 'cloud.provider_a',
  aliases: ['cloud.gcp'],
  version: '1.0.0',
  summary: 'Calls of the first cloud provider that delete, destroy or purge.',
  rules,
  executables,
  prepare: loadPostgresParser,
  command: judgeCommand,
  tool: judgeTool,
})

export default definePlugin({
  manifest: {
    id: 'guardrail-pack.cloud-provider-a',
    version: '0.1.0',
    contract: 1,
    summary: 'The guardrail pack cloud.provider_a.',
    config: Type.Object({}, { additionalProperties: false }),
    guardrailPacks: [cloudProviderA],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, cloudProviderA)
  },
})
