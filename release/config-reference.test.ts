import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Type } from '../kernel/plugin/index.ts'
import { configReference, referenceFile } from './config-reference.ts'
import { rowsOf } from './schema-rows.ts'

const { text, rows } = configReference()

test('docs/configuration.md is current: else run `bun run docs:config`', () => {
  expect(readFileSync(referenceFile, 'utf8')).toBe(text)
})

test('every setting has a description', () => {
  expect(rows.filter(({ tells }) => tells === '').map(({ key }) => key)).toEqual([])
  // A setting without a description is found.
  expect(rowsOf('', Type.Object({ mute: Type.String() }))).toMatchObject([{ tells: '' }])
})

test('every setting of the example is in the reference', () => {
  const example = readFileSync(new URL('../gateway.example.yaml', import.meta.url), 'utf8')
  const keys = [...example.matchAll(/^ +#?([a-z_]+):/gm)].map(([, key]) => key as string)
  const known = new Set(
    rows.flatMap(({ key }) => key.split('.').map((part) => part.replace('[]', ''))),
  )
  const free = ['x-team', 'x-purpose', 'user', 'chat_template_kwargs']
  expect(keys.length).toBeGreaterThan(100)
  expect(keys.filter((key) => !known.has(key) && !free.includes(key))).toEqual([])
})
