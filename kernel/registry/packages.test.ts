import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { locatePackage } from './packages.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'packages-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function file(path: string, text = ''): string {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
  return join(root, path)
}
const locate = (name: string, ...folders: string[]) =>
  locatePackage(
    name,
    folders.map((folder) => join(root, folder)),
  )

test('the nearest of the first folder counts, then that of the next', () => {
  const far = file('a/node_modules/near/index.js')
  mkdirSync(join(root, 'a/b'), { recursive: true })
  const other = file('c/node_modules/near/index.js')
  expect(locate('near', 'a/b', 'c')).toBe(far)
  expect(locate('near', 'c', 'a/b')).toBe(other)
  expect(locate('near', 'd', 'c')).toBe(other)
})

test('exports, scopes, submodules, and links', () => {
  const exported = '{"name":"@me/kit","exports":{".":"./main.ts","./sub":"./lib/sub.ts"}}'
  file('e/node_modules/@me/kit/package.json', exported)
  const main = file('e/node_modules/@me/kit/main.ts')
  const sub = file('e/node_modules/@me/kit/lib/sub.ts')
  expect(locate('@me/kit', 'e')).toBe(main)
  expect(locate('@me/kit/sub', 'e')).toBe(sub)
  expect(() => locate('@me/kit/lib/sub.ts', 'e')).toThrow()

  const linked = file('elsewhere/linked/index.js')
  symlinkSync(join(root, 'elsewhere/linked'), join(root, 'e/node_modules/linked'))
  expect(realpathSync(locate('linked', 'e'))).toBe(linked)
})

test('a missing package is an error that names the searched folders', () => {
  expect(() => locate('typo-of-a-name', 'e', 'c')).toThrow(
    `typo-of-a-name is not installed: no node_modules of ${root}/e or ${root}/c or above has it`,
  )
  mkdirSync(join(root, 'e/node_modules/empty'), { recursive: true })
  expect(() => locate('empty', 'e')).toThrow()
})

test.each(['', '.', '..', '../near', '/near', '@me', '@me/', '@me/..', 'fs/../../near'])(
  'a name that leads elsewhere: "%s"',
  (name) => {
    expect(() => locate(name, 'a/node_modules/near', 'e')).toThrow()
  },
)
