import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { judgeCommand } from './commands.ts'
import { executables, rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const saasNotes = commandPack({
  id: 'saas.notes',
  aliases: ['saas.notion'],
  version: '1.1.0',
  summary: 'Calls that delete, archive, move or trash notes, pages and databases.',
  rules,
  executables,
  command: judgeCommand,
  tool: judgeTool,
})

export default packPlugin(saasNotes)
