import { expect, test } from 'bun:test'
import { terminalText } from './terminal-text.ts'

test.each([
  ['rm -rf /srv\r', 'rm -rf /srv\n'],
  ['y{enter}', 'y\n'],
  ['ls<CR>', 'ls\n'],
  ['ls Enter', 'ls\n'],
  ['ls C-m', 'ls\n'],
  ['ls\\n', 'ls\n'],
  ['rn\b\brm x\n', 'rm x\n'],
  ['rm -rf /\u0015ls\n', 'ls\n'],
  ['sleep 9\u0003ls', 'sleep 9\nls'],
  ['\u001b[A\u001b[1;5C\u001bOPls', 'ls'],
  ['echo {a,b} [x] <y> Enter the room', 'echo {a,b} [x] <y> Enter the room'],
])('%j arrives as %j', (typed, text) => {
  expect(terminalText(typed)).toBe(text)
})

test('the keys of a list are typed in order', () => {
  expect(terminalText(['rm', 'Space', '-rf', ' x', 'Enter'])).toBe('rm -rf x\n')
})

test('many keys take linear time', () => {
  const start = performance.now()
  terminalText('a'.repeat(30_000) + '\b'.repeat(60_000) + '\u001b['.repeat(10_000))
  expect(performance.now() - start).toBeLessThan(500)
})
