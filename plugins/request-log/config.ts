import { configSection, type Static, Type } from 'model-gateway/plugin'

const CaptureMode = Type.Union([Type.Literal('disabled'), Type.Literal('summary_only')], {
  default: 'summary_only',
  description: 'disabled: no rows at all. summary_only: a summary and its attempts.',
})
export type CaptureMode = Static<typeof CaptureMode>

export const requestLogging = configSection(
  'request_logging',
  Type.Object(
    {
      payloads: Type.Object(
        { capture_mode: CaptureMode },
        { additionalProperties: false, default: {} },
      ),
    },
    { additionalProperties: false, default: {} },
  ),
)
