import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import tailwind from 'bun-plugin-tailwind'

/** One file of the bundle, with its size in bytes, raw and brotli-compressed. */
export interface BundledFile {
  readonly name: string
  readonly bytes: number
  readonly brotliBytes: number
}

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** How the app is bundled. `release/notices.ts` reads from it which packages are in the bundle. */
export const consoleBuild: Bun.BuildConfig = {
  entrypoints: [join(import.meta.dir, 'app/index.html')],
  publicPath: '/console/',
  target: 'browser',
  splitting: true,
  minify: true,
  sourcemap: 'none',
  naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  define: { 'process.env.NODE_ENV': '"production"' },
  plugins: [tailwind],
}

/**
 * Bundles the app, split by page and with hashes in the names, and compresses each file with gzip
 * and brotli. The folder is replaced in one step, when all files are written. Rejects with the
 * bundler's error.
 */
export async function bundle(folder: string): Promise<readonly BundledFile[]> {
  const built = await Bun.build(consoleBuild)
  const making = `${folder}.${process.pid}`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  try {
    const files = await Promise.all(
      built.outputs.map(async (output) => {
        const bytes = new Uint8Array(await output.arrayBuffer())
        const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        const [small, zipped] = await Promise.all([brotli(bytes, { params }), zip(bytes)])
        const name = basename(output.path)
        writeFileSync(join(making, name), bytes)
        writeFileSync(join(making, `${name}.br`), small)
        writeFileSync(join(making, `${name}.gz`), zipped)
        return { name, bytes: bytes.length, brotliBytes: small.length }
      }),
    )
    rmSync(folder, { recursive: true, force: true })
    renameSync(making, folder)
    return files
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}
