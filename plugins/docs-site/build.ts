/** `bun run docs:site`: builds docs/ into `guide/`, from where the gateway serves it. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vitepress'
import { guideFolder } from './guide.ts'

const DOCS = resolve(import.meta.dir, '../../docs')
const BASE = '/docs/guide/'
const COMPRESSED = /\.(?:css|html|js|json|svg)$/

/**
 * Builds the site into a folder, which appears when all of it is there. Rejects when a page links to
 * a page that does not exist.
 */
export async function buildGuide(folder = guideFolder): Promise<void> {
  const making = `${folder}.${process.pid}`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { recursive: true })
  try {
    await build(DOCS, { outDir: making })
    takeOutOfPages(making)
    compress(making)
    rmSync(folder, { recursive: true, force: true })
    renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/**
 * Moves scripts and images that are inside of pages and styles into files, because the content
 * security policy of the console, which the site has too, admits nothing inline.
 */
function takeOutOfPages(folder: string): void {
  const put = (content: string, ending: string): string => {
    const name = `assets/${Bun.hash(content).toString(36)}.${ending}`
    writeFileSync(join(folder, name), content)
    return BASE + name
  }
  const code = put(readFileSync(join(folder, 'code.css'), 'utf8'), 'css')
  rmSync(join(folder, 'code.css'))
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    if (name.endsWith('.html')) {
      const text = readFileSync(path, 'utf8')
        .replace(
          /<script(?: id="[\w-]+")?>(.+?)<\/script>/gs,
          (_, script: string) => `<script src="${put(script, 'js')}"></script>`,
        )
        // Two of VitePress, which its scripts set again where they matter.
        .replace(/ style="[^"]*"/g, '')
        .replace('</head>', `<link rel="stylesheet" href="${code}"></head>`)
      writeFileSync(path, text)
    } else if (name.endsWith('.css')) {
      const text = readFileSync(path, 'utf8').replace(
        /url\((["'])data:image\/svg\+xml,(.+?)\1\)/g,
        (_, _quote, image: string) => `url(${put(decodeURIComponent(image), 'svg')})`,
      )
      writeFileSync(path, text)
    }
  }
}

/** Writes the gzip form of each text next to it; Brotli would take longer than all the rest. */
function compress(folder: string): void {
  for (const name of namesIn(folder).filter((each) => COMPRESSED.test(each))) {
    const path = join(folder, name)
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)))
  }
}

function namesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
}

if (import.meta.main) await buildGuide()
