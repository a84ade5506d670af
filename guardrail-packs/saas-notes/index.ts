import { definePlugin, guardrailPacks, Type } from 'model-gateway/plugin'
import { commandPack } from '../_shared/command-pack.ts'
import { judgeCommand } from './commands.ts'
import { executables, rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const saasNotes = commandPack({
  id: 'saas.notes',
  aliases: ['saas.notion'],
  version: '1.1.0',
  summary: 'Calls that delete, archive, move or trash notes, pages and their databases.',
  rules,
  executables,
  command: judgeCommand,
  tool: judgeTool,
})

export default definePlugin({
  manifest: {
    id: 'guardrail-pack.saas-notes',
    version: '0.1.0',
    contract: 1,
    summary: 'The guardrail pack saas.notes.',
    config: Type.Object({}, { additionalProperties: false }),
    guardrailPacks: [saasNotes],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, saasNotes)
  },
})
