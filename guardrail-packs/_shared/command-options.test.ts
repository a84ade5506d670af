import { expect, test } from 'bun:test'
import { readOptions } from './command-options.ts'
import { literal } from './command-state.ts'

function read(text: string, table: Parameters<typeof readOptions>[1] = {}) {
  const result = readOptions(text.split(' ').map(literal), table)
  return {
    options: result.options.map(({ name, value }) =>
      value === undefined ? name : `${name}=${value.text}`,
    ),
    operands: result.operands.map((word) => word.text),
  }
}

test('clusters are read, and end at an option with a value', () => {
  expect(read('-abc x')).toEqual({ options: ['-a', '-b', '-c'], operands: ['x'] })
  expect(read('-abval -c val x', { short: 'bc' })).toEqual({
    options: ['-a', '-b=val', '-c=val'],
    operands: ['x'],
  })
})

test('some options take only an attached value', () => {
  const table = { short: 'd', attached: 'i' }
  expect(read('-i x -iad -ni.d x', table)).toEqual({
    options: ['-i', '-i=ad', '-n', '-i=.d'],
    operands: ['x', 'x'],
  })
})

test('long options take values apart or attached, and may be abbreviated', () => {
  const table = { values: ['size'], flags: ['force', 'recursive', 'recurse'] }
  expect(read('--size 3 --size=4 --SIZE=5 x', table).options).toEqual([
    '--size=3',
    '--size=4',
    '--size=5',
  ])
  expect(read('--fo --recursi --recu', table).options).toEqual(['--force', '--recursive', '--recu'])
})

test('words after two dashes are operands', () => {
  const result = readOptions(['a', '--', '-f', '--x'].map(literal), {})
  expect(result.has('-f')).toBe(false)
  expect(result.operands.map((word) => word.text)).toEqual(['a', '-f', '--x'])
  expect(result.dashesAfter).toBe(1)
})

test('a leading table stops at the first operand', () => {
  expect(read('-a b -c', { leading: true })).toEqual({ options: ['-a'], operands: ['b', '-c'] })
})

test('single dashes are long options where the tool has no clusters', () => {
  const table = { singleDash: true, values: ['name'] }
  expect(read('. -name -delete -print', table)).toEqual({
    options: ['-name=-delete', '-print'],
    operands: ['.'],
  })
})

test('an option with an unknown name is recognized', () => {
  const word = { ...literal('-$flags'), dynamic: true }
  expect(readOptions([word], {}).dynamic).toBe(true)
  expect(readOptions([{ ...word, text: '--size=$n' }], { values: ['size'] }).dynamic).toBe(false)
})
