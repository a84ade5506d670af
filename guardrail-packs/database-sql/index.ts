import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { loadPostgresParser } from '../_shared/sql.ts'
import { clients, removingTools } from './clients.ts'
import { judgeCommand } from './commands.ts'
import { rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const databaseSql = commandPack({
  id: 'database.sql',
  version: '1.0.0',
  summary: 'SQL that drops, empties or changes everything, by client or by tool.',
  rules,
  executables: new Set([...clients.keys(), ...removingTools.keys()]),
  prepare: loadPostgresParser,
  command: judgeCommand,
  tool: judgeTool,
})

export default packPlugin(databaseSql)
