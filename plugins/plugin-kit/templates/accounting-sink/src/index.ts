import { accountingSinks } from 'model-gateway/accounting'
import { definePlugin, strictObject, Type } from 'model-gateway/plugin'
import { createSink } from './sink.ts'

export default definePlugin({
  manifest: {
    id: 'accounting-sink.sample-name',
    version: '0.1.0',
    contract: 1,
    summary: 'Appends every settled call to a file, one JSON object per line.',
    config: strictObject({
      file: Type.String({ pattern: '^[A-Za-z0-9._-]+$', default: 'calls.jsonl' }),
    }),
    needs: ['files'],
  },
  setup(ctx) {
    ctx.provide(accountingSinks, createSink(`${ctx.files.directory()}/${ctx.config.file}`))
  },
})
