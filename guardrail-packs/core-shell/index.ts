import { commandPack } from '../_shared/command-pack.ts'
import { packPlugin } from '../_shared/pack-plugin.ts'
import { judge } from './judge.ts'
import { executables, rules } from './rules.ts'

export const coreShell = commandPack({
  id: 'core.shell',
  version: '1.1.0',
  summary: 'Power states, formatting, signals to all processes, and unseen scripts.',
  rules,
  executables,
  command: judge,
})

export default packPlugin(coreShell)
