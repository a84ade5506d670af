import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { loadPostgresParser } from '../_shared/sql.ts'
import { judgeCommand } from './commands.ts'
import { rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const cloudProviderB = commandPack({
  id: 'cloud.provider_b',
  aliases: ['cloud.aws'],
  version: '1.0.0',
  summary: 'AWS calls that delete, terminate or purge.',
  rules,
  executables: new Set(['aws']),
  prepare: loadPostgresParser,
  command: judgeCommand,
  tool: judgeTool,
})

export default packPlugin(cloudProviderB)
