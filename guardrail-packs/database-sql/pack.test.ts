import { testGuardrailPack } from 'model-gateway/testing'
import { loadPostgresParser } from '../_shared/sql.ts'
import { databaseSql } from './index.ts'

await loadPostgresParser()

testGuardrailPack({
  pack: databaseSql,
  folder: import.meta.dir,
  atLeast: 200,
  uninspectable: 'uninspectable',
})
