import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { schemaSource } from '../../api-types.ts'

const root = join(import.meta.dir, '../../../..')

test('the types are those of openapi.json; `bun run console:api` makes them', async () => {
  const source = schemaSource(await Bun.file(join(root, 'openapi.json')).json())
  const committed = await Bun.file(join(import.meta.dir, 'schema.ts')).text()
  expect(committed).toBe(source)
})
