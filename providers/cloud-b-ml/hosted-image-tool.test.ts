import { expect, test } from 'bun:test'
import type { JsonObject } from 'model-gateway/plugin'
import { outboundBody } from '../_shared/outbound-body.ts'
import { removeHostedImageTool } from './hosted-image-tool.ts'

const image = { type: 'image_generation' }
const f = { type: 'function', name: 'f' }
const allowed = (mode: string, ...tools: JsonObject[]) => ({ type: 'allowed_tools', mode, tools })

function apply(body: JsonObject): JsonObject {
  const out = outboundBody({ body, rawBody: undefined })
  removeHostedImageTool(out)
  return JSON.parse(out.text())
}

test.each<[JsonObject]>([
  [{ tools: [image, f], tool_choice: 'image_generation' }],
  [{ tools: [image, f], tool_choice: image }],
  [{ tools: [image, f], tool_choice: allowed('required', image) }],
  [{ tools: [image, image], tool_choice: 'required' }],
  [{ tools: [f, { ...image, action: 'generate' }] }],
  [{ tools: [{ ...image, action: 'edit' }], tool_choice: 'auto' }],
])('%j cannot do without it', (body) => {
  expect(() => apply(body)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      message: expect.stringContaining('image_generation'),
    }),
  )
})

test.each<[JsonObject, JsonObject]>([
  [{ tools: [image] }, {}],
  [{ tools: [image], tool_choice: 'auto' }, {}],
  [{ tools: [{ ...image, action: 'auto' }] }, {}],
  [{ tools: [{ ...image, action: null }] }, {}],
  [
    { tools: [image, f], tool_choice: 'required' },
    { tools: [f], tool_choice: 'required' },
  ],
  [
    { tools: [f, image], tool_choice: allowed('required', image, f) },
    { tools: [f], tool_choice: allowed('required', f) },
  ],
  [{ tools: [f, image], tool_choice: allowed('auto', image) }, { tools: [f] }],
  [
    { tools: [f], tool_choice: 'auto' },
    { tools: [f], tool_choice: 'auto' },
  ],
  [
    { tools: [], tool_choice: 'required' },
    { tools: [], tool_choice: 'required' },
  ],
  [{ input: 'x' }, { input: 'x' }],
])('%j goes out as %j', (body, sent) => {
  expect(apply(body)).toEqual(sent)
})
