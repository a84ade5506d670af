import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../kernel/boot/read-config.ts'
import { builtins } from '../plugins/standard/builtins.ts'

const ROOT = resolve(import.meta.dir, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(read('package.json'))

/** The instructions of the Dockerfile, one per line. */
const instructions = read('Dockerfile')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const of = (name: string) =>
  instructions
    .filter((line) => line.startsWith(`${name} `))
    .map((line) => line.slice(name.length + 1))

test('the image is built from files that exist, with the version of Bun that the tests use', () => {
  expect(of('FROM')[0]).toBe(
    `oven/bun:${/BUN = '(.+)'/.exec(read('release/set-up.mjs'))?.[1]} AS build`,
  )
  const made = ['dist/postgres', 'dist/gateway']
  for (const line of of('COPY')) {
    const sources = line.split(/\s+/).slice(0, -1)
    for (const source of sources.filter((word) => !word.startsWith('--'))) {
      const path = source.replace('/src/', '')
      expect(made.includes(path) || existsSync(join(ROOT, path))).toBe(true)
    }
  }
  const scripts = of('RUN').flatMap((line) => /^bun run (\S+)/.exec(line)?.[1] ?? [])
  expect(scripts).toEqual(['build'])
  expect(manifest.scripts).toHaveProperty(scripts[0] as string)
})

test('patches of dependencies are copied before the dependencies are installed', () => {
  const install = instructions.findIndex((line) => line.startsWith('RUN bun install'))
  const patches = Object.values(manifest.patchedDependencies as Record<string, string>)
  expect(patches).not.toBeEmpty()
  for (const patch of patches) {
    const copied = instructions.findIndex((line) => line.startsWith(`COPY ${patch} `))
    expect(copied).toBeGreaterThan(-1)
    expect(copied).toBeLessThan(install)
  }
})

test('the image runs as a separate user and has a health check', () => {
  expect(of('USER')).toEqual(['gateway'])
  const last = (name: string) => instructions.findLastIndex((line) => line.startsWith(name))
  expect(last('USER')).toBeGreaterThan(last('RUN'))
  expect(of('HEALTHCHECK')[0]).toEndWith('CMD ["gateway", "healthcheck"]')
  expect(read('plugins/standard/cli.ts')).toContain('healthcheck: healthcheckCommand')
})

test('the image has the licence and the notices of the software in it', () => {
  const [copied] = of('COPY').filter((line) => line.includes('/src/dist/gateway'))
  for (const paper of ['LICENSE', 'THIRD_PARTY_NOTICES']) expect(copied).toContain(`/src/${paper} `)
  expect(copied).toEndWith(' /opt/model-gateway/')
})

const compose = parse(read('compose.yaml'))

test('compose.yaml names files, volumes and services that exist', () => {
  expect(Object.keys(compose.services)).toEqual(['gateway', 'postgres', 'collector'])
  for (const { volumes = [], depends_on = {} } of Object.values(compose.services) as {
    volumes?: string[]
    depends_on?: object
  }[]) {
    for (const volume of volumes) {
      const [source = ''] = volume.split(':')
      expect(
        source.startsWith('.') ? existsSync(join(ROOT, source)) : source in compose.volumes,
      ).toBe(true)
    }
    for (const name of Object.keys(depends_on)) expect(compose.services).toHaveProperty(name)
  }
})

test('the gateway of compose.yaml has a valid config that exports to the collector', async () => {
  const text = read('release/compose/gateway.yaml')
  const { environment } = compose.services.gateway
  const env = { DATABASE_URL: environment.DATABASE_URL.replace(/\$\{\w+:-(\w+)\}/, '$1') }
  const { problems, loaded } = await readConfig({ text, file: 'gateway.yaml' }, builtins, env)
  expect(problems).toEqual([])
  expect(loaded?.databaseUrl?.reveal()).toBe('postgres://gateway:gateway@postgres:5432/gateway')
  expect(loaded?.server).toMatchObject({ otel_endpoint: 'http://collector:4318' })
})

test('the collector receives OTLP over HTTP, and its pipelines use components that it defines', () => {
  const collector = parse(read('release/compose/collector.yaml'))
  expect(collector.receivers.otlp.protocols.http.endpoint).toEndWith(':4318')
  expect(Object.keys(collector.service.pipelines)).toEqual(['traces', 'metrics'])
  for (const pipeline of Object.values(collector.service.pipelines) as Record<string, string[]>[]) {
    for (const [kind, names] of Object.entries(pipeline)) {
      for (const name of names) expect(collector[kind]).toHaveProperty(name)
    }
  }
})
