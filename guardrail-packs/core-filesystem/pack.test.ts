import { testGuardrailPack } from 'model-gateway/testing'
import { coreFilesystem } from './index.ts'

testGuardrailPack({
  pack: coreFilesystem,
  folder: import.meta.dir,
  atLeast: 200,
  uninspectable: 'uninspectable',
})
