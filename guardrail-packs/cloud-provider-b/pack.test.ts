import { testGuardrailPack } from 'model-gateway/testing'
import { loadPostgresParser } from '../_shared/sql.ts'
import { cloudProviderB } from './index.ts'

await loadPostgresParser()

testGuardrailPack({
  pack: cloudProviderB,
  folder: import.meta.dir,
  atLeast: 200,
  uninspectable: 'uninspectable',
})
