import { definePlugin, guardrailPacks, Type } from 'model-gateway/plugin'
import { commandPack } from '../_shared/command-pack.ts'
import { judge } from './judge.ts'
import { executables, rules } from './rules.ts'

export const coreShell = commandPack({
  id: 'core.shell',
  version: '1.1.0',
  summary: 'Power states, formatting, signals to everything, and scripts that nobody has seen.',
  rules,
  executables,
  command: judge,
})

export default definePlugin({
  manifest: {
    id: 'guardrail-pack.core-shell',
    version: '0.1.0',
    contract: 1,
    summary: 'The guardrail pack core.shell.',
    config: Type.Object({}, { additionalProperties: false }),
    guardrailPacks: [coreShell],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(guardrailPacks, coreShell)
  },
})
