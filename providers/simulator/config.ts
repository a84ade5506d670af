import { MAX_TIMER_MS, type Static, Type } from 'model-gateway/plugin'

const strict = { additionalProperties: false }

const faultSchema = Type.Object(
  {
    match: Type.String({
      minLength: 1,
      description: 'Calls fail whose last user message or embeddings input contains this text',
    }),
    kind: Type.Union(
      [
        Type.Literal('error_status'),
        Type.Literal('timeout'),
        Type.Literal('reset_mid_stream'),
        Type.Literal('malformed_stream'),
        Type.Literal('missing_usage'),
      ],
      { description: 'Kind of fault; the two stream faults also fail buffered calls' },
    ),
    status: Type.Optional(
      Type.Integer({
        minimum: 400,
        maximum: 599,
        description: 'Status for error_status. Default 500',
      }),
    ),
  },
  strict,
)
export type Fault = Static<typeof faultSchema>

export const configSchema = Type.Object(
  {
    latency_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_TIMER_MS,
        description: 'Delay before each reply in milliseconds. Default 0',
      }),
    ),
    faults: Type.Optional(Type.Array(faultSchema, { description: 'The first match applies' })),
  },
  strict,
)
export type Config = Static<typeof configSchema>
