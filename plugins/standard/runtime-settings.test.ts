import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'runtime-settings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const program = `
  import { useRuntimeSettings } from ${JSON.stringify(join(import.meta.dir, 'runtime-settings.ts'))}
  process.env.STARTS = (process.env.STARTS ?? '') + ' ' + process.pid
  useRuntimeSettings(process.env)
  console.log(
    JSON.stringify({ env: process.env, args: process.argv.slice(2), own: process.execArgv }),
  )`

/** The environment of a process that was started in this environment. */
async function start(env: Readonly<Record<string, string>>) {
  const file = join(folder, 'program.ts')
  await Bun.write(file, program)
  const child = Bun.spawn([process.execPath, file, 'serve', '--config', 'a b.yaml'], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
  })
  const seen = JSON.parse(await new Response(child.stdout).text()) as {
    readonly env: Readonly<Record<string, string>>
    readonly args: readonly string[]
    readonly own: readonly string[]
  }
  return { ...seen, starts: (seen.env.STARTS ?? '').trim().split(' ') }
}

test('a process starts once more with the settings, as the same process with the same arguments', async () => {
  const { env, args, starts } = await start({ GATEWAY_BIND: '127.0.0.1:0' })
  expect(starts).toEqual([starts[0] as string, starts[0] as string])
  expect(env).toMatchObject({ BUN_CONFIG_MAX_HTTP_REQUESTS: '65000', GATEWAY_BIND: '127.0.0.1:0' })
  expect(args).toEqual(['serve', '--config', 'a b.yaml'])
  expect((await start(env)).starts).toHaveLength(3)
})

test('it takes no modules from a registry, and nothing from the working folder', async () => {
  expect((await start({})).own).toEqual([
    '--no-install',
    '--no-env-file',
    '--config=/dev/null',
    '--tsconfig-override=/dev/null',
  ])
})

test("the operator's own settings win", async () => {
  const { env } = await start({ MIMALLOC_PURGE_DELAY: '5' })
  expect(env.MIMALLOC_PURGE_DELAY).toBe('5')
  expect(env.BUN_CONFIG_MAX_HTTP_REQUESTS).toBe('65000')
})
