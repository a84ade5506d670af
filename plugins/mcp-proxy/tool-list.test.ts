import { expect, test } from 'bun:test'
import { withoutTools } from './tool-list.ts'

const shown = (name: string) => name !== 'drop'

test.each([
  [
    'the first of a list',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"drop"}, {"name":"read","n":1.0}]}}',
    '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","n":1.0}]}}',
  ],
  [
    'the last one, with other members kept byte for byte',
    '{"result": {"nextCursor":9007199254740993, "tools":[ {"name":"read"}, {"name":"drop"} ]} }',
    '{"result": {"nextCursor":9007199254740993, "tools":[{"name":"read"}]} }',
  ],
  ['the only one', '{"result":{"tools":[{"name":"drop"}]}}', '{"result":{"tools":[]}}'],
  [
    'one of a batch',
    '[{"id":1,"result":{}},{"id":2,"result":{"tools":[{"name":"drop"}]}}]',
    '[{"id":1,"result":{}},{"id":2,"result":{"tools":[]}}]',
  ],
  [
    'names with escapes',
    '{"result":{"t\\u006fols":[{"n\\u0061me":"dr\\u006fp"}]}}',
    '{"result":{"t\\u006fols":[]}}',
  ],
  [
    'one that has two names',
    '{"result":{"tools":[{"name":"drop","name":"read"}]}}',
    '{"result":{"tools":[]}}',
  ],
  [
    'both of two lists',
    '{"result":{"tools":[{"name":"drop"}],"tools":[1,{"name":"drop"}]}}',
    '{"result":{"tools":[],"tools":[1]}}',
  ],
])('a hidden tool is cut out: %s', (_, text, rest) => {
  expect(withoutTools(text, shown)).toBe(rest)
})

test.each([
  ['a list without hidden tools', '{ "result":{"tools":[ {"name":"read"} ]}}'],
  ['tools that are an argument, not a list', '{"params":{"tools":[{"name":"drop"}]}}'],
  ['a nested list', '{"result":{"content":{"tools":[{"name":"drop"}]}}}'],
  ['text that is not JSON', '{"result":{"tools":[{"name":"drop"}]'],
])('%s stays as it is', (_, text) => {
  expect(withoutTools(text, shown)).toBe(text)
})
