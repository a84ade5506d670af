import { join } from 'node:path'
import { schemaSource } from './api-types.ts'

const document = Bun.file(join(import.meta.dir, '../../openapi.json'))
const target = join(import.meta.dir, 'app/api/schema.ts')

await Bun.write(target, schemaSource(await document.json()))
