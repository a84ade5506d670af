import { definePlugin, guardrailPacks, Type } from 'model-gateway/plugin'
import { commandPack } from '../_shared/command-pack.ts'
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

export default definePlugin({
  manifest: {
    id: 'guardrail-pack.core-git',
    version: '0.1.0',
    contract: 1,
    summary: 'The guardrail pack core.git.',
    config: Type.Object({}, { additionalProperties: false }),
    guardrailPacks: [coreGit],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, coreGit)
  },
})
