import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { judge } from './judge.ts'
import { executables, rules } from './rules.ts'
import { judgeTool } from './tools.ts'

export const coreGit = commandPack({
  id: 'core.git',
  version: '1.1.0',
  summary: 'Git commands that lose work, commits or shared history.',
  rules,
  executables,
  command: judge,
  tool: judgeTool,
})

export default packPlugin(coreGit)
