import { writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { transformerStyleToClass } from '@shikijs/transformers'
import { defineConfig } from 'vitepress'
import { nav, sidebar } from './navigation.ts'

// The console's content security policy admits no `style="…"`, so colours of code become classes.
const styles = transformerStyleToClass({ classPrefix: 'code-' })

/** Where a link of a page leads on the site; `undefined` when its target is not a page of the site. */
function targetOf(href: string, page: string): string | undefined {
  if (/^(?:[a-z]+:|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#', 2)
  const from = page.replace(/(^|\/)index\.md$/, '$1README.md')
  const to = posix.join(posix.dirname(from), path)
  if (to.startsWith('..') || !to.endsWith('.md')) return undefined
  const link = path.replace(/(^|\/)README\.md$/, '$1index.md')
  return anchor === undefined ? link : `${link}#${anchor}`
}

/** The packages whose code is in the site: `THIRD_PARTY_NOTICES` must name them. */
const packages = new Set<string>()
const collectPackages = {
  name: 'collect-packages',
  generateBundle(_: unknown, bundle: Readonly<Record<string, object>>) {
    const modules = Object.values(bundle).flatMap((chunk) =>
      'moduleIds' in chunk ? (chunk.moduleIds as string[]) : [],
    )
    for (const path of modules) {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
      if (name !== undefined) packages.add(name)
    }
  },
}

export default defineConfig({
  title: 'model-gateway',
  description: 'One HTTP gateway in front of all your language-model providers.',
  base: '/docs/guide/',
  // Otherwise a script adds a `<style>` when the colours change, which the policy does not admit.
  appearance: { disableTransition: false },
  cleanUrls: true,
  rewrites: { 'README.md': 'index.md', 'providers/README.md': 'providers/index.md' },
  ignoreDeadLinks: false,
  cacheDir: '../node_modules/.vitepress',
  themeConfig: { nav, sidebar, search: { provider: 'local' }, outline: [2, 3] },
  markdown: {
    // Pages are Markdown alone: `<id>` in a text is a text.
    html: false,
    // As on GitHub, so that an anchor works in the repository and on the site.
    anchor: {
      slugify: (title) =>
        title
          .toLowerCase()
          .replace(/[^\p{L}\p{N}\s_-]/gu, '')
          .replace(/\s/g, '-'),
    },
    codeTransformers: [styles],
    config(md) {
      md.core.ruler.before('normalize', 'no-comments', (state) => {
        state.src = state.src.replace(/^<!--.*?-->$/gms, '')
      })
      md.core.ruler.push('gateway-links', ({ tokens, env }) => {
        for (const { children } of tokens) {
          let dropped = false
          for (const token of children ?? []) {
            if (token.type === 'link_open') {
              const target = targetOf(String(token.attrGet('href')), env.relativePath)
              dropped = target === undefined
              if (target !== undefined) token.attrSet('href', target)
            }
            // What is outside of docs/ is not on the site: its name remains, without a link.
            if (dropped && token.type.startsWith('link_'))
              Object.assign(token, { type: 'text', content: '' })
            if (token.type === 'link_close') dropped = false
          }
        }
      })
    },
  },
  vite: { plugins: [collectPackages] },
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, 'packages.json'), JSON.stringify([...packages].toSorted()))
    writeFileSync(join(outDir, 'code.css'), styles.getCSS())
  },
})
