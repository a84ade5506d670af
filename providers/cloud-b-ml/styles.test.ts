import { expect, test } from 'bun:test'
import { type ApiStyle, encodeModelId, endpointOf } from './styles.ts'

test.each<[ApiStyle, string | undefined, string, string]>([
  ['runtime_unified', undefined, 'https://bedrock-runtime.us-west-2.amazonaws.com', 'bedrock'],
  ['runtime_generic_chat', undefined, 'https://bedrock-runtime.us-west-2.amazonaws.com', 'bedrock'],
  ['edge_native_messages', undefined, 'https://bedrock-mantle.us-west-2.api.aws', 'bedrock-mantle'],
  ['edge_generic_chat', 'http://127.0.0.1:8080/', 'http://127.0.0.1:8080', 'bedrock-mantle'],
])('%s with endpoint_url %p', (style, endpointUrl, origin, service) => {
  expect(endpointOf(style, 'us-west-2', endpointUrl)).toEqual({ origin, service })
})

test.each([
  ['us.anthropic.claude-opus-4-7-v1:0', 'us.anthropic.claude-opus-4-7-v1%3A0'],
  ['a model/x', 'a%20model%2Fx'],
  [
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude opus',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile%2Fus.anthropic.claude%20opus',
  ],
])('the id %p in a path', (id, segment) => {
  expect(encodeModelId(id)).toBe(segment)
})
