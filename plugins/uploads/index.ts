import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { configSection, definePlugin, Type } from 'model-gateway/plugin'
import * as contract from './contract.ts'
import { uploads } from './contract.ts'
import { createUploads } from './receive.ts'

const server = configSection('server', Type.Object({}))
/** Body limits of the kernel. Gateways always set them; test benches for plugins do not. */
const limits = Type.Object({
  max_body_bytes: Type.Integer({ default: 33_554_432 }),
  body_timeout_ms: Type.Integer({ default: 30_000 }),
})

/** Keeps the files of running requests on the local disk. */
export default definePlugin({
  manifest: {
    id: 'plugin.uploads',
    version: '0.1.0',
    contract: 1,
    summary: 'Receives files that are sent as forms.',
    config: Type.Object({}, { additionalProperties: false }),
    sections: [server],
    needs: ['files', 'start'],
    provides: [uploads],
  },
  contracts: { 'model-gateway/uploads': contract },
  setup(ctx) {
    const { config, serves } = ctx.start
    const all = ctx.files.directory()
    const directory = join(all, String(process.pid))
    if (serves) removeAbandoned(all)
    const { max_body_bytes: maxBytes, body_timeout_ms: timeoutMs } = config.section({
      ...server,
      schema: limits,
    })
    ctx.provide(uploads, createUploads(directory, { maxBytes, timeoutMs }))
    return () => rmSync(directory, { recursive: true, force: true })
  },
})

/** Deletes folders of dead processes. A folder with this process's id belongs to an earlier one. */
function removeAbandoned(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (Number(name) === process.pid || !isRunning(Number(name))) {
      rmSync(join(directory, name), { recursive: true, force: true })
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}
