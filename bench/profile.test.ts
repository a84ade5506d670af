import { expect, test } from 'bun:test'
import { byFolder, type CpuProfile, selfShares } from './profile.ts'

const root = new URL('..', import.meta.url).href

function node(id: number, functionName: string, url: string, children: number[] = []) {
  return { id, callFrame: { functionName, url, lineNumber: url === '' ? -1 : 4 }, children }
}

test('counts the samples of a time span, and names native functions by their callers', () => {
  const profile: CpuProfile = {
    startTime: 1000,
    nodes: [
      node(1, '(root)', '', [2, 5]),
      node(2, 'send', `${root}kernel/egress/egress.ts`, [3, 4]),
      node(3, 'fetch', ''),
      node(4, '', 'file:///x/node_modules/postgres/src/a.js'),
      node(5, 'drain', ''),
    ],
    samples: [2, 3, 3, 4, 5, 2],
    timeDeltas: [10, 10, 10, 10, 10, 10],
  }
  const functions = selfShares(profile, 1015, 1055)
  expect(functions).toEqual([
    ['fetch ← send kernel/egress/egress.ts:5', 0.5],
    ['(anonymous) postgres/src/a.js:5', 0.25],
    ['drain ← the engine', 0.25],
  ])
  expect(byFolder(functions)).toEqual([
    ['kernel/egress', 0.5],
    ['postgres', 0.25],
    ['the engine', 0.25],
  ])
})
