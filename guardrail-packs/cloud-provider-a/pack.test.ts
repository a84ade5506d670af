import { testGuardrailPack } from 'model-gateway/testing'
import { loadPostgresParser } from '../_shared/sql.ts'
import { cloudProviderA } from './index.ts'

await loadPostgresParser()

testGuardrailPack({
  pack: cloudProviderA,
  folder: import.meta.dir,
  atLeast: 200,
  uninspectable: 'uninspectable',
})
