import { distFolder } from './assets.ts'
import { bundle } from './bundle.ts'

const kb = (bytes: number) => `${(bytes / 1000).toFixed(1).padStart(8)} kB`

for (const { name, bytes, brotliBytes } of await bundle(distFolder)) {
  console.log(`${kb(bytes)} ${kb(brotliBytes)} br  ${name}`)
}
