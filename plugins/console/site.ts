import type { PageFile, Pages } from './pages.ts'

export interface PagesParts {
  /** The files of the bundle; `undefined` when there is none. */
  read(): ReadonlyMap<string, PageFile> | undefined
  /** Makes the bundle; rejects with the reason why it cannot be made. */
  build(): Promise<void>
  /** Told of a build that failed. */
  failed(error: unknown): void
}

export interface ConsolePages extends Pages {
  /** Begins to build what is missing, without waiting for it. */
  prepare(): void
}

const page = (text: string, pending?: true): PageFile => ({
  type: 'text/html; charset=utf-8',
  body: new TextEncoder().encode(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Console</title><p>${text}</p></html>`,
  ),
  immutable: false,
  ...(pending && { pending }),
})

const BUILDING = page('The console is being built. This page opens it in a moment.', true)
const MISSING = page(
  'The console has not been built. Run <code>bun run build:console</code>, then load this page again.',
)

/** Endings of files that pages load; ids in paths of the app may hold dots as well. */
const FILE =
  /\.(?:avif|css|gif|html?|ico|jpe?g|json|map|m?js|png|svg|tsx?|txt|wasm|webmanifest|webp|woff2?|xml)$/i

/** Whether a path under the mount names a file, not a page of the app. */
function isFile(path: string): boolean {
  if (!path.includes('/')) return /\.[a-z0-9]+$/i.test(path)
  return path.startsWith('assets/') || FILE.test(path)
}

/** The bundle under `/console`, built when it is missing, while the gateway serves everything else. */
export function createConsolePages({ read, build, failed }: PagesParts): ConsolePages {
  let assets: ReadonlyMap<string, PageFile> | undefined
  let building: Promise<void> | undefined
  let broken = false

  function prepare(): void {
    assets ??= read()
    if (assets !== undefined || building !== undefined || broken) return
    building = build()
      .catch((error) => {
        broken = true
        failed(error)
      })
      .finally(() => {
        building = undefined
      })
  }

  return {
    mount: '/console',
    prepare,
    find(path) {
      prepare()
      if (isFile(path)) return assets?.get(path)
      if (assets === undefined) return broken ? MISSING : BUILDING
      return assets.get('index.html')
    },
  }
}
