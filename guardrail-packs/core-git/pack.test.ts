import { testGuardrailPack } from 'model-gateway/testing'
import { coreGit } from './index.ts'

testGuardrailPack({
  pack: coreGit,
  folder: import.meta.dir,
  atLeast: 200,
  uninspectable: 'uninspectable',
})
