import { expect, test } from 'bun:test'
import { arrayOf } from './batch-row.ts'

test('rows are one JSON array, each with the members of its payload', () => {
  const bare = { json: '{"n":1}', payload: undefined }
  const whole = { json: '{"n":2}', payload: '"body":{"a":[]},"cut":false' }
  expect(JSON.parse(arrayOf([]))).toEqual([])
  expect(JSON.parse(arrayOf([bare]))).toEqual([{ n: 1 }])
  expect(JSON.parse(arrayOf([whole, bare, whole]))).toEqual([
    { n: 2, body: { a: [] }, cut: false },
    { n: 1 },
    { n: 2, body: { a: [] }, cut: false },
  ])
})
