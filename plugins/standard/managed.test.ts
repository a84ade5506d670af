import { describe, expect, test } from 'bun:test'
import { readConfig } from '../../kernel/boot/read-config.ts'
import { parseConfig } from '../../kernel/config/parse.ts'
import { builtins } from './builtins.ts'
import { formatPlaced, managedFileOf, withManaged } from './managed.ts'

const file = '/etc/gateway.yaml'
const managedFile = '/etc/gateway.managed.yaml'
const managed = `# Written by the console
providers:
  - { id: added, type: simulator }
models:
  - id: "added/*"
    alias_of: old
`

/** Main files in every YAML style of lists, maps and comments. */
const mains: readonly (readonly [name: string, text: string])[] = [
  ['block lists', 'providers:\n  - id: old\n    type: simulator\n\nmodels:\n  - id: old\n'],
  ['lists that are not indented', 'providers:\n- id: old\nmodels:\n- id: old # the last'],
  [
    'comments behind',
    'models:\n  - id: old\n  # more models\n\n# end\nproviders:\n  - id: old\n  # x\n',
  ],
  [
    'a text of several lines at the end',
    'models:\n  - id: old\n    description: |\n      a\n      b\n\nserver: {}\n',
  ],
  ['brackets', 'providers: [{ id: old }]\nmodels: [ { id: old }, ]'],
  [
    'brackets over lines',
    'providers: [\n  { id: old }, # one\n  ]\nmodels: [\n  { id: old }\n  # two\n  ]',
  ],
  ['empty brackets', 'providers: []\nmodels: [ ]'],
  ['sections without a value', 'providers:\nmodels: null\nserver: {}'],
  ['no sections', 'server: {}'],
  ['no sections, an indented map', '  # head\n  server:\n    bind: "127.0.0.1:1"'],
  ['nothing', ''],
  ['comments only', '# nothing yet'],
  ['JSON', '{"providers": [{"id": "old"}], "server": {}}'],
  ['JSON over lines', '{\n  "models": [\n    {"id": "old"}\n  ],\n  "server": {}\n}\n'],
  ['empty JSON', '{}'],
  ['anchors', 'providers: &all\n  - &one { id: old }\nmodels: &list [ *one ]'],
  ['a document with ends', '%YAML 1.2\n---\nproviders:\n  - id: old\n...\n'],
  ['lines as Windows ends them', 'providers:\r\n  - id: old\r\nserver: {}\r\n'],
]

describe('a managed file', () => {
  test.each(mains)('is joined to %s', (_, text) => {
    const before = parseConfig(text).data ?? {}
    const list = (name: string) => (before[name] ?? []) as unknown[]
    const joined = withManaged({ text, file }, managed)
    expect(joined.faults).toEqual([])
    expect(parseConfig(joined.text)).toMatchObject({
      problems: [],
      data: {
        ...before,
        providers: [...list('providers'), { id: 'added', type: 'simulator' }],
        models: [...list('models'), { id: 'added/*', alias_of: 'old' }],
      },
    })
    for (const line of text.split(/\r?\n/).filter((line) => line.includes('#'))) {
      expect(joined.text).toContain(line.trim())
    }
  })

  test('that is absent or empty changes nothing', () => {
    for (const text of [null, '', '# only a comment\n']) {
      expect(withManaged({ text: 'a: &b', file }, text)).toMatchObject({
        text: 'a: &b',
        faults: [],
      })
    }
  })

  test.each([
    [
      'providers: [{ id: a }]',
      'providers:\n  - type: x\n    id: a',
      'providers[0].id (/etc/gateway.managed.yaml:3:5): "a" is also the id of an entry in /etc/gateway.yaml:1:15 — remove one of the two, or give it another id',
    ],
    [
      '',
      'models: []\nserver: {}',
      'server (/etc/gateway.managed.yaml:2:1): must not be in a managed file, which may only have providers and models — move it to the config file',
    ],
    [
      '',
      'models: { a: b }',
      'models (/etc/gateway.managed.yaml:1:1): must be a list — begin each of its entries with "- "',
    ],
    [
      'x: &list [{ id: a }]\nmodels: *list',
      'models: [{ id: b }]',
      'models (/etc/gateway.yaml:2:1): is not a plain YAML list, so entries cannot be added to it — write each entry of the section here after "- ", or move the entries of /etc/gateway.managed.yaml here',
    ],
  ])('the config %j cannot have the managed file %j', (main, text, message) => {
    expect(formatPlaced(withManaged({ text: main, file }, text).faults)).toBe(message)
  })

  test('that is not YAML is named', () => {
    const { faults } = withManaged({ text: '', file }, 'models: [')
    expect(formatPlaced(faults)).toStartWith(`${managedFile}:1:10: YAML syntax`)
  })

  test('has its problems at its own lines, and the main file at those that it has', async () => {
    const main =
      'providers:\n  - id: old\n    type: simulator\n\nmodels:\n  - id: old\n    alias_of: gone\n'
    const source = withManaged(
      { text: main, file },
      'models:\n  - id: new\n    routes: [{ provider: none, upstream_model: a }]\nproviders:\n  - id: other\n    type: nothing\n',
    )
    const { problems } = await readConfig(source, builtins, {})
    expect(formatPlaced(problems.map(source.place)).split('\n').toSorted()).toEqual([
      expect.stringContaining(
        'models[0].alias_of (/etc/gateway.yaml:7:5): model "gone" does not exist',
      ),
      expect.stringContaining(
        'models[0].routes[0].provider (/etc/gateway.managed.yaml:3:16): provider "none" does not exist',
      ),
      expect.stringContaining(
        'providers[0].type (/etc/gateway.managed.yaml:6:5): provider type "nothing" does not exist',
      ),
    ])
  })

  test('has the name of the config file, or of the one that the working folder would have', () => {
    expect(managedFileOf('/a/b.prod.yml')).toBe('/a/b.prod.managed.yml')
    expect(managedFileOf('/config')).toBe('/config.managed.yaml')
    expect(managedFileOf(undefined)).toBe(`${process.cwd()}/gateway.managed.yaml`)
  })
})
