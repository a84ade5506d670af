import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dir, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(read('package.json'))
const tracked = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
}).stdout.split('\0')

/** Paths in backticks that do not exist. Words in capitals and `*` stand for any part of a path. */
function missingPaths(text: string): string[] {
  const paths = [...text.matchAll(/`([\w.][\w.-]*\/[\w./*-]*)`/g)].map(([, path]) => path as string)
  return paths.filter((path) => {
    if (/^(?:model-gateway|application)\//.test(path)) return false
    const pattern = path.replace(/[A-Z]{4,}/g, '*')
    if (!pattern.includes('*')) return !existsSync(join(ROOT, path))
    return new Bun.Glob(pattern).scanSync({ cwd: ROOT, onlyFiles: false }).next().done === true
  })
}

function missingScripts(text: string): string[] {
  const names = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name as string)
  return names.filter((name) => !(name in manifest.scripts))
}

const PAGES = ['CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md']

test.each([...PAGES, 'docs/threat-model.md'])(
  '%s names only files and scripts that exist',
  (page) => {
    expect(missingPaths(read(page))).toEqual([])
    expect(missingScripts(read(page))).toEqual([])
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(
      ([, to]) => to as string,
    )
    expect(links.filter((to) => !existsSync(join(ROOT, page, '..', to)))).toEqual([])
  },
)

test('a path and a script that do not exist are found', () => {
  expect(missingPaths('`kernel/none.ts`, `kernel/README.md`, `nope/NAME`, `plugins/NAME`')).toEqual(
    ['kernel/none.ts', 'nope/NAME'],
  )
  expect(missingScripts('`npm run lint`, `npm run nothing`')).toEqual(['nothing'])
})

/** The rows of the tables of a section whose last cell names no test. */
function withoutTest(section: string): string[] {
  const rows = section.split('\n').filter((line) => /^\| (?!-|Attack|Risk)/.test(line))
  if (rows.length === 0) throw new Error('the section has no table')
  return rows.filter((row) => {
    const tests =
      row
        .split(' | ')
        .at(-1)
        ?.match(/`[\w./-]+\.(?:test|browser)\.ts`/g) ?? []
    return tests.length === 0
  })
}

test('each attack of the threat model names a test that shows the defence', () => {
  const [, rest = ''] = read('docs/threat-model.md').split('## What an attacker may do')
  const [section = ''] = rest.split('## What is not held off')
  expect(withoutTest(section)).toEqual([])
  expect(withoutTest(`${section}\n| guess | luck | none |`)).toEqual(['| guess | luck | none |'])
  expect(section.match(/^### /gm)).toHaveLength(7)
})

test('the repository has one address', () => {
  const address = 'https://github.com/model-gateway/model-gateway'
  expect(manifest.repository.url).toBe(`git+${address}.git`)
  const others = tracked
    .filter(
      (path) => /\.(?:[cm]?tsx?|mjs|md|ya?ml|json)$/.test(path) && existsSync(join(ROOT, path)),
    )
    .flatMap((path) =>
      [...read(path).matchAll(/github\.com[/:]([\w.-]+\/model-gateway)\b/g)].map(
        ([, name]) => `${path}: ${name}`,
      ),
    )
  expect(others.filter((found) => !found.endsWith(': model-gateway/model-gateway'))).toEqual([])
})

test('package.json, the set-up and the Dockerfile name one version of Bun', () => {
  const bun = /BUN = '(.+)'/.exec(read('release/set-up.mjs'))?.[1]
  expect(manifest.engines.bun).toBe(`>=${bun}`)
  expect(read('CONTRIBUTING.md')).toContain(`Bun ${bun} `)
})

test('files that .gitattributes marks as generated exist', () => {
  const lines = read('.gitattributes').split('\n')
  const marked = lines.flatMap((line) => /^(\S+) linguist-generated$/.exec(line)?.[1] ?? [])
  expect(marked.length).toBeGreaterThan(5)
  expect(marked.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('code owners are named for folders that exist, and issue forms are valid', () => {
  const owned = read('.github/CODEOWNERS')
    .split('\n')
    .flatMap((line) => /^(\/\S+) +@model-gateway\/[a-z]+$/.exec(line)?.[1] ?? [])
  expect(owned.length).toBeGreaterThan(3)
  expect(owned.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  const folder = '.github/ISSUE_TEMPLATE'
  for (const name of readdirSync(join(ROOT, folder))) {
    const form = parse(read(`${folder}/${name}`))
    if (name === 'config.yml') expect(form).toHaveProperty('contact_links')
    else expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) })
    const ids = (form.body ?? []).flatMap((field: { id?: string }) => field.id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
  }
  expect(() => JSON.parse(read('renovate.json'))).not.toThrow()
})
