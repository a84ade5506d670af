import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

/** Lines of source, tests and fixtures aside. */
const MAX_KERNEL_LINES = 13_480
const MAX_WIRE_LINES = 4_000
const MIN_FILE_LINES = 10

const NO_SOURCE = /\.test\.ts$|fixture|testing/
/** Tests and templates have names of others, two files are scripts, and VitePress looks for its theme. */
const MAY_BE_SHORT =
  /^plugins\/console\/(?:build|generate-api)\.ts$|^docs\/\.vitepress\/theme\/|\.test\.ts$|\/__fixtures__\/|\.d\.ts$|\/templates\//

interface File {
  readonly path: string
  readonly lines: number
}

function linesIn(files: readonly File[], folder: string, but?: string): number {
  return files
    .filter(({ path }) => path.startsWith(folder) && (but === undefined || !path.startsWith(but)))
    .filter(({ path }) => path.endsWith('.ts') && !NO_SOURCE.test(path))
    .reduce((sum, { lines }) => sum + lines, 0)
}

function tooShort(files: readonly File[]): string[] {
  return files
    .filter(({ path, lines }) => lines < MIN_FILE_LINES && !MAY_BE_SHORT.test(path))
    .map(({ path, lines }) => `${path}: ${lines} lines, so it joins the file that uses it`)
}

/** Tracked files, and new ones that are not ignored. */
const files: readonly File[] = spawnSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  { cwd: root, encoding: 'utf8' },
)
  .stdout.split('\0')
  .filter((path) => /\.tsx?$/.test(path) && existsSync(join(root, path)))
  .map((path) => ({ path, lines: readFileSync(join(root, path), 'utf8').split('\n').length - 1 }))

/** The list only gets shorter. */
const knownToBeShort: ReadonlySet<string> = new Set([
  'kernel/wire/invalid.ts',
  'kernel/wire/is-present.ts',
  'providers/_shared/invalid-request.ts',
  'test/harness/telemetry.ts',
])

test('lines are counted without tests, fixtures and other folders', () => {
  const planted = [
    { path: 'kernel/http/app.ts', lines: 5 },
    { path: 'kernel/http/app.test.ts', lines: 70 },
    { path: 'kernel/http/testing.ts', lines: 70 },
    { path: 'kernel/wire/__fixtures__/chat.ts', lines: 70 },
    { path: 'kernel/wire/sse.ts', lines: 200 },
    { path: 'plugins/identity/index.ts', lines: 9 },
  ]
  expect(linesIn(planted, 'kernel/', 'kernel/wire/')).toBe(5)
  expect(linesIn(planted, 'kernel/wire/')).toBe(200)
  expect(tooShort(planted)).toEqual([
    'kernel/http/app.ts: 5 lines, so it joins the file that uses it',
    'plugins/identity/index.ts: 9 lines, so it joins the file that uses it',
  ])
})

test('the kernel and the wire library stay small', () => {
  expect(files.length).toBeGreaterThan(500)
  expect(linesIn(files, 'kernel/', 'kernel/wire/')).toBeLessThanOrEqual(MAX_KERNEL_LINES)
  expect(linesIn(files, 'kernel/wire/')).toBeLessThanOrEqual(MAX_WIRE_LINES)
})

test('no file has fewer than ten lines', () => {
  expect(tooShort(files.filter(({ path }) => !knownToBeShort.has(path)))).toEqual([])
})
