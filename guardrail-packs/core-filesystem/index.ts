import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { judge } from './judge.ts'
import { executables, rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const coreFilesystem = commandPack({
  id: 'core.filesystem',
  version: '1.2.0',
  summary: 'Recursive and bulk deletion, devices and volumes, protected files.',
  rules,
  executables,
  command: judge,
  tool: judgeTool,
})

export default packPlugin(coreFilesystem)
