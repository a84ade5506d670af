import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { idioms } from './idioms.ts'

const root = resolve(import.meta.dir, '../..')

/** How many are left, by kind of text. They may only fall: lower them with each text that is mended. */
const AT_MOST = { strings: 2, tests: 124, comments: 84, docs: 22 }

type Kind = keyof typeof AT_MOST

interface Text {
  readonly kind: Kind
  readonly text: string
}

/** What people read of a file. Texts of one file of code are its comments and its strings. */
function textsOf(path: string, content: string): readonly Text[] {
  if (!/\.tsx?$/.test(path)) return [{ kind: 'docs', text: content }]
  const kind = /\.(?:test|browser|agents|long|release)\.tsx?$|^test\//.test(path)
    ? 'tests'
    : 'strings'
  const { program, comments, errors } = parseSync(path, content)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const texts: Text[] = comments.map(({ value }) => ({
    kind: 'comments',
    text: value.replace(/\n\s*\*/g, ''),
  }))
  const add = (text: unknown) => {
    if (typeof text === 'string') texts.push({ kind, text })
  }
  new Visitor({
    Literal: ({ value }) => add(value),
    TemplateElement: ({ value }) => add(value.cooked),
    JSXText: ({ value }) => add(value),
  }).visit(program)
  return texts
}

function found(text: string): readonly string[] {
  const line = text.replace(/\s+/g, ' ')
  return idioms.flatMap(([phrase, instead]) =>
    [...line.matchAll(phrase)].map(
      ({ index, 0: words }) =>
        `“${line.slice(Math.max(0, index - 30), index + words.length + 20)}” (${words}: ${instead})`,
    ),
  )
}

/** Recorded bytes, generated files and the history of changes are other people's or the past's words. */
const NOT_OURS =
  /__fixtures__|^CHANGELOG\.md$|^openapi\.json$|api-types|schema\.ts$|^test\/house\/idioms/

function search(): Record<Kind, string[]> {
  const { stdout } = spawnSync('git', ['ls-files', '-z', '--', '*.ts', '*.tsx', '*.md', '*.yaml'], {
    cwd: root,
    encoding: 'utf8',
  })
  const all: Record<Kind, string[]> = { strings: [], tests: [], comments: [], docs: [] }
  for (const path of stdout.split('\0').filter((name) => name !== '' && !NOT_OURS.test(name))) {
    for (const { kind, text } of textsOf(path, readFileSync(join(root, path), 'utf8'))) {
      for (const phrase of found(text)) all[kind].push(`${path}: ${phrase}`)
    }
  }
  return all
}

test('phrases are found in comments, strings, templates, elements and docs, over line ends', () => {
  const code = `/** Nobody\n * reads. */\nconst a = 'is no url' + \`stands \${1} anew\`\nconst b = <p>of its own</p>`
  const texts = textsOf('a.tsx', code)
  expect(texts.flatMap(({ kind, text }) => found(text).map(() => kind))).toEqual([
    'comments',
    'strings',
    'strings',
    'strings',
    'strings',
  ])
  expect(found('A name\nis no\nid; it is no longer one.')).toHaveLength(1)
  expect(textsOf('docs/a.md', 'x')).toEqual([{ kind: 'docs', text: 'x' }])
})

test('texts do not get harder to read', () => {
  const all = search()
  const counts = Object.fromEntries(Object.entries(all).map(([kind, list]) => [kind, list.length]))
  const over = Object.entries(AT_MOST).filter(([kind, most]) => all[kind as Kind].length > most)
  const shown = over.flatMap(([kind, most]) => [
    `${kind}: ${counts[kind]} of at most ${most}`,
    ...all[kind as Kind],
  ])
  expect(shown).toEqual([])
})
