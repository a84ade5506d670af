import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { judge } from './judge.ts'
import { executables, rules } from './rules.ts'

export const coreGit = commandPack({
  id: 'core.git',
  version: '1.0.0',
  summary: 'Git commands that lose work, commits or the history of others.',
  rules,
  executables,
  command: judge,
})

export default packPlugin(coreGit)
