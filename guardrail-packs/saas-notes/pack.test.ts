import { testGuardrailPack } from 'model-gateway/testing'
import { saasNotes } from './index.ts'

testGuardrailPack({
  pack: saasNotes,
  folder: import.meta.dir,
  atLeast: 60,
  uninspectable: 'uninspectable',
})
