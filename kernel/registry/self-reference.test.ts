import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GatewayError } from '../plugin/index.ts'
import { decodeSse } from '../wire/index.ts'
import { registerSelfReference } from './self-reference.ts'

test('a single file without package can import the contract and the wire library', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'self-reference-'))
  try {
    const file = join(folder, 'plugin.ts')
    writeFileSync(
      file,
      "export { GatewayError } from 'model-gateway/plugin'\nexport { decodeSse } from 'model-gateway/wire'\n",
    )
    registerSelfReference()
    const plugin = await import(file)
    expect(plugin.GatewayError).toBe(GatewayError)
    expect(plugin.decodeSse).toBe(decodeSse)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
