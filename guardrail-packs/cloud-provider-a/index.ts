import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { loadPostgresParser } from '../_shared/sql.ts'
import { executables, judgeCommand } from './commands.ts'
import { rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const cloudProviderA = commandPack({
  id: 'cloud.provider_a',
  aliases: ['cloud.gcp'],
  version: '1.0.0',
  summary: 'Google Cloud calls that delete, destroy or purge.',
  rules,
  executables,
  prepare: loadPostgresParser,
  command: judgeCommand,
  tool: judgeTool,
})

export default packPlugin(cloudProviderA)
