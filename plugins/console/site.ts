import type { PageFile, Pages } from '../_shared/pages.ts'

export interface PagesParts {
  /** The files of the bundle; `undefined` if it has not been built. */
  read(): ReadonlyMap<string, PageFile> | undefined
  /** Builds the bundle; rejects with the reason if it fails. */
  build(): Promise<void>
  /** Called when a build fails. */
  failed(error: unknown): void
}

export interface ConsolePages extends Pages {
  /** Starts to build a missing bundle, without waiting for it. */
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

const BUILDING = page('The console is being built. This page reloads automatically.', true)
const MISSING = page(
  'The console has not been built. Run <code>bun run build:console</code>, then reload this page.',
)

/** File extensions that pages load; IDs in routes of the app may contain dots, too. */
const FILE =
  /\.(?:avif|css|gif|html?|ico|jpe?g|json|map|m?js|png|svg|tsx?|txt|wasm|webmanifest|webp|woff2?|xml)$/i

/** Whether a path under the mount names a file, not a page of the app. */
function isFile(path: string): boolean {
  if (!path.includes('/')) return /\.[a-z0-9]+$/i.test(path)
  return path.startsWith('assets/') || FILE.test(path)
}

/** The pages at `/console`. A missing bundle is built in the background. */
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
