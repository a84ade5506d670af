import { afterAll, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from 'model-gateway/plugin'
import project from '../../package.json'
import { runNewPlugin } from './new-command.ts'
import { kinds } from './templates.ts'

const folder = mkdtempSync(join(tmpdir(), 'plugin-kit-'))
afterAll(() => rmSync(folder, { recursive: true }))

const versions = { gateway: '0.1.0', typescript: '7.0.2', bunTypes: '1.4.4' }

function run(...args: readonly string[]): string {
  const lines: string[] = []
  runNewPlugin({ args, cwd: folder, versions, out: (line) => lines.push(line) })
  return lines.join('\n')
}

function refusal(...args: readonly string[]): string {
  const before = readdirSync(folder)
  try {
    run(...args)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    expect(readdirSync(folder)).toEqual(before)
    return (error as UsageError).message
  }
  throw new Error('it was not refused')
}

describe('gateway plugin new', () => {
  test.each([...kinds])('%s: every file, under its own name', (kind) => {
    const name = `two-words-${kind}`
    const told = run('new', kind, name)
    const written = readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    const lying = readdirSync(join(import.meta.dir, 'templates', kind), {
      recursive: true,
      withFileTypes: true,
    }).filter((entry) => entry.isFile())
    expect(written.length).toBe(lying.length + 3)
    for (const file of written) {
      expect(told).toContain(file.slice(join(folder, name).length + 1))
      expect(readFileSync(file, 'utf8')).not.toMatch(/sample.?name/i)
    }
    const manifest = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'))
    expect(manifest.name).toBe(`gateway-${kind}-${name}`)
    expect(told).toContain(`next:\n  cd ${name}\n  bun install\n  bun test`)
  })

  test('words of the language and short names are names', () => {
    for (const name of ['default', 'class', 'a', 'x2']) {
      run('new', 'provider', name, '--dir', 'odd')
      const source = readFileSync(join(folder, 'odd', name, 'src', 'index.ts'), 'utf8')
      expect(() => new Bun.Transpiler({ loader: 'ts' }).transformSync(source)).not.toThrow()
    }
  })

  test.each([
    ['', 'single hyphens'],
    ['Acme', 'a-z and 0-9'],
    ['acme_chat', 'a-z and 0-9'],
    ['-acme', 'a-z and 0-9'],
    ['acme--chat', 'single hyphens'],
    ['2nd', 'start with a letter'],
    ['../acme', 'a-z and 0-9'],
    ['ä', 'a-z and 0-9'],
    ['a'.repeat(41), 'longer than 40 characters'],
  ])('%j is not a valid name, and the error has the rule', (name, rule) => {
    expect(refusal('new', 'provider', '--', name)).toContain(rule)
  })

  test.each([
    [[], 'the subcommand is missing'],
    [['old'], "unknown command 'plugin old'"],
    [['new'], 'the kind of plugin is missing'],
    [['new', 'providers', 'acme'], 'known: provider, pack'],
    [['new', 'provider'], 'the name of the plugin is missing'],
    [['new', 'provider', 'acme', 'more'], "unexpected argument 'more'"],
    [['new', 'provider', 'acme', '--path', 'x'], '--path'],
  ])('%j is refused with the usage', (args, words) => {
    const message = refusal(...args)
    expect(message).toContain(words)
    expect(message).toContain('usage: gateway plugin new provider|pack|')
  })

  test('a folder that exists is left alone', () => {
    mkdirSync(join(folder, 'taken'))
    expect(refusal('new', 'pack', 'taken')).toContain('exists')
    expect(readdirSync(join(folder, 'taken'))).toEqual([])
  })

  test('the kits come from a version, a given tarball, or the tarball in the current folder', () => {
    const dependency = (name: string) =>
      JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).devDependencies[
        'model-gateway'
      ]
    run('new', 'pack', 'by-version')
    expect(dependency('by-version')).toBe('0.1.0')
    run('new', 'pack', 'asked-version', '--gateway', '^0.2.0')
    expect(dependency('asked-version')).toBe('^0.2.0')
    expect(refusal('new', 'pack', 'missing', '--gateway', './gone.tgz')).toContain(
      'the file gone.tgz does not exist',
    )
    writeFileSync(join(folder, 'model-gateway-0.1.0.tgz'), '')
    run('new', 'pack', 'by-tarball', '--dir', 'deep')
    expect(dependency(join('deep', 'by-tarball'))).toBe('file:../../model-gateway-0.1.0.tgz')
  })

  test('the command must come first, and needs neither config nor database', async () => {
    const main = join(import.meta.dir, '../standard/main.ts')
    const child = Bun.spawn([process.execPath, main, 'plugin', 'new', 'pack', 'from-line'], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
      env: { ...process.env, GATEWAY_CONFIG: '/nowhere.yaml' },
    })
    expect(await new Response(child.stdout).text()).toContain('from-line: ')
    expect(await child.exited).toBe(0)
    const manifest = JSON.parse(readFileSync(join(folder, 'from-line/package.json'), 'utf8'))
    expect(manifest.devDependencies.typescript).toBe(project.devDependencies.typescript)
    expect(existsSync(join(folder, '.gateway'))).toBe(false)
  })
})
