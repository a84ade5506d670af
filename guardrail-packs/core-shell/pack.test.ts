import { testGuardrailPack } from 'model-gateway/testing'
import { coreShell } from './index.ts'

testGuardrailPack({
  pack: coreShell,
  folder: import.meta.dir,
  atLeast: 200,
  uninspectable: 'uninspectable',
})
