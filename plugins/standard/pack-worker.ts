import { importPlugin } from '../../kernel/boot/import-plugin.ts'
import * as guardrail from '../guardrails/contract.ts'
import { servePacks } from '../pack-isolation/serve-packs.ts'

// The program of a thread that runs one pack plugin (`isolation: worker`), with the built-in packs.
const builtins = {
  'cloud-provider-a': () => import('../../guardrail-packs/cloud-provider-a/index.ts'),
  'cloud-provider-b': () => import('../../guardrail-packs/cloud-provider-b/index.ts'),
  'core-filesystem': () => import('../../guardrail-packs/core-filesystem/index.ts'),
  'core-git': () => import('../../guardrail-packs/core-git/index.ts'),
  'core-shell': () => import('../../guardrail-packs/core-shell/index.ts'),
  'database-sql': () => import('../../guardrail-packs/database-sql/index.ts'),
  'saas-notes': () => import('../../guardrail-packs/saas-notes/index.ts'),
}

// Only the contracts that packs import, because all contracts would load all plugins.
const contracts = { 'model-gateway/guardrail': guardrail }

servePacks((module) => importPlugin(module, builtins, contracts))
