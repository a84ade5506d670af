import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { welcome } from 'model-gateway/host'
import { httpRoutes } from 'model-gateway/http'
import { definePlugin, Type } from 'model-gateway/plugin'
import { pageRoutes } from '../_shared/pages.ts'
import { readAssets } from './assets.ts'
import { createConsolePages } from './site.ts'

const BUILD = join(import.meta.dir, 'build.ts')

/** The web console, at `/console`. */
export default definePlugin({
  manifest: {
    id: 'plugin.console',
    version: '0.1.0',
    contract: 1,
    summary: 'The web console at /console: requests, spend, budgets, tools and users.',
    config: Type.Object({}, { additionalProperties: false }),
    needs: [],
    after: ['plugin.identity'],
  },
  setup({ log, signal, provide }) {
    // In a child process, because bundling takes seconds of CPU and would delay requests.
    async function build() {
      if (!existsSync(BUILD))
        throw new Error('cannot build the console: its sources are not installed')
      const child = Bun.spawn([process.execPath, BUILD], {
        stdout: 'ignore',
        stderr: 'pipe',
        env: { ...process.env, NODE_ENV: 'production' },
        signal,
      })
      const problem = await new Response(child.stderr).text()
      if ((await child.exited) !== 0) throw new Error(problem.trim().slice(-2000))
    }
    const site = createConsolePages({
      read: readAssets,
      build,
      failed: (err) => signal.aborted || log.error({ err }, 'building the console failed'),
    })
    for (const route of pageRoutes(site)) provide(httpRoutes, route)
    provide(httpRoutes, {
      method: 'GET',
      path: '/',
      takesAnyRequestId: true,
      handle: ({ header }) =>
        header('accept')?.includes('text/html') === true
          ? new Response(null, { status: 302, headers: { location: site.mount, vary: 'accept' } })
          : Response.json({ status: 'ok', console: site.mount }, { headers: { vary: 'accept' } }),
    })
    provide(welcome, {
      async lines(baseUrl) {
        site.prepare()
        return [`Console      ${baseUrl}/console`]
      },
    })
  },
})
