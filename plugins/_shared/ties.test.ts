import { describe, expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { responsesDialect } from 'model-gateway/wire'
import { chatTies, responsesTies } from './ties.ts'

const user = (content: string) => ({ role: 'user', content })

describe('a conversation', () => {
  test('begins with the first user text, whatever is before it', () => {
    const first = chatTies({ messages: [user('hi')] })
    expect(first.continues).toBe(false)
    const system = { role: 'system', content: 'it is 12:01' }
    const more = [system, user('hi'), { role: 'assistant', content: 'yes' }, user('go on')]
    const second = chatTies({ messages: more })
    expect(second).toMatchObject({ head: first.head, continues: true })
    expect(chatTies({ messages: [user('ho')] }).head).not.toBe(first.head)
    const input = { input: [system, user('hi')] }
    expect(responsesTies(input).head).toBe(first.head)
  })

  test.each<[string, JsonObject]>([
    ['a reply', { input: [user('a'), { role: 'assistant', content: 'b' }] }],
    ['a tool call', { input: [user('a'), { type: 'function_call', call_id: 'c' }] }],
    ['a tool result', { input: [{ type: 'function_call_output', call_id: 'c' }] }],
    ['an earlier response', { input: 'a', previous_response_id: 'r1' }],
    ['a key for caches', { input: 'a', prompt_cache_key: 'k' }],
  ])('goes on after %s', (_, request) => {
    expect(responsesTies(request).continues).toBe(true)
  })

  test('other members of a request are not ties', () => {
    for (const odd of [{}, { messages: 'x' }, { messages: [null] }, { input: 7, tools: {} }]) {
      expect(chatTies(odd as JsonObject)).toMatchObject({ state: [], continues: false })
      expect(responsesTies(odd as JsonObject)).toMatchObject({ state: [], continues: false })
    }
  })
})

test('state is found by the id in the reply', () => {
  const response = {
    id: 'resp_1',
    conversation: { id: 'conv_1' },
    output: [
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA' },
      { type: 'code_interpreter_call', container_id: 'cntr_1' },
      { type: 'message', id: 'msg_1', content: [] },
    ],
  }
  const made = responsesDialect.stateIn(response)
  expect(made).toEqual(['resp_1', 'conv_1', 'gAAA', 'rs_1', 'cntr_1'])
  expect(responsesDialect.stateIn({ type: 'response.completed', response })).toEqual(made)
  const { state } = responsesTies({
    previous_response_id: 'resp_1',
    conversation: 'conv_1',
    input: [{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA' }],
    tools: [{ type: 'code_interpreter', container: 'cntr_1' }, { type: 'web_search' }],
  })
  expect(state.map(({ id }) => id).toSorted()).toEqual([...made].toSorted())
  expect(state.map(({ member }) => member)).toContain('previous_response_id')
})
