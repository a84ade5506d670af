import { definePlugin, guardrailPacks, Type } from 'model-gateway/plugin'
import { commandPack } from '../_shared/command-pack.ts'
import { judge } from './judge.ts'
import { executables, rules } from './rules.ts'

export const coreFilesystem = commandPack({
  id: 'core.filesystem',
  version: '1.1.0',
  summary: 'Recursive and bulk deletion, devices and volumes, protected files.',
  rules,
  executables,
  command: judge,
})

export default definePlugin({
  manifest: {
    id: 'guardrail-pack.core-filesystem',
    version: '0.1.0',
    contract: 1,
    summary: 'The guardrail pack core.filesystem.',
    config: Type.Object({}, { additionalProperties: false }),
    guardrailPacks: [coreFilesystem],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, coreFilesystem)
  },
})
