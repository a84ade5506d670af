import { MAX_TIMER_MS, type Static, Type } from 'model-gateway/plugin'

const strict = { additionalProperties: false }

const faultSchema = Type.Object(
  {
    match: Type.String({
      minLength: 1,
      description:
        'The fault befalls calls whose last user message, or embeddings input, has this in it',
    }),
    kind: Type.Union(
      [
        Type.Literal('error_status'),
        Type.Literal('timeout'),
        Type.Literal('reset_mid_stream'),
        Type.Literal('malformed_stream'),
        Type.Literal('missing_usage'),
      ],
      { description: 'The two stream faults fail a buffered call as well' },
    ),
    status: Type.Optional(
      Type.Integer({ minimum: 400, maximum: 599, description: 'For error_status; default 500' }),
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
        description: 'Silence before each reply; default 0',
      }),
    ),
    faults: Type.Optional(
      Type.Array(faultSchema, { description: 'The first that matches counts' }),
    ),
  },
  strict,
)
export type Config = Static<typeof configSchema>
