import type { ConfigDraft } from 'model-gateway/host'
import { configSection, type Problem, type Static, Type } from 'model-gateway/plugin'
import { pathFault } from '../_shared/redaction-paths.ts'
import { oneOf } from '../_shared/schema.ts'
import { Purge, scheduleFault } from './retention.ts'

const Payloads = Type.Object(
  {
    capture_mode: oneOf(['disabled', 'summary_only', 'redacted_payloads'], {
      default: 'redacted_payloads',
      description:
        'disabled: no rows. summary_only: a summary with its tags and attempts. redacted_payloads: also the sanitised request and response bodies.',
    }),
    request_max_bytes: Type.Integer({
      minimum: 1,
      default: 65_536,
      description: 'Maximum size of a logged request; longer ones are truncated.',
    }),
    response_max_bytes: Type.Integer({
      minimum: 1,
      default: 65_536,
      description: 'Maximum size of a logged response; longer ones are truncated.',
    }),
    stream_max_events: Type.Integer({
      minimum: 1,
      default: 128,
      description: 'Maximum number of logged events per stream.',
    }),
    redaction_paths: Type.Array(Type.String(), {
      default: [],
      description:
        'Paths of values to redact: keys joined by dots, from the root of the logged payload; * matches any key or index.',
    }),
  },
  { additionalProperties: false, default: {} },
)
export type PayloadSettings = Static<typeof Payloads>

const parts = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 16, description }),
  )
const Harness = Type.Object(
  {
    key: Type.String({
      pattern: '^[a-z0-9_]{1,64}$',
      description:
        'Key in reports and filters, such as my_agent. The key of a built-in agent extends that agent.',
      errorMessage: 'must be 1 to 64 characters of a-z, 0-9 and _',
    }),
    label: Type.String({ minLength: 1, maxLength: 64, description: 'Name in the console.' }),
    starts: parts('Prefixes of its User-Agents, case-insensitive, such as my-agent/.'),
    contains: parts('Substrings of its User-Agents, case-insensitive.'),
  },
  { additionalProperties: false },
)

export const requestLogging = configSection(
  'request_logging',
  Type.Object(
    {
      payloads: Payloads,
      purge: Purge,
      harnesses: Type.Array(Harness, {
        default: [],
        maxItems: 256,
        description:
          'Rules that identify coding agents by User-Agent, applied before the built-in ones. The first match wins.',
      }),
    },
    { additionalProperties: false, default: {} },
  ),
)

/** The settings until a config is loaded. */
export const defaultSettings: PayloadSettings = {
  capture_mode: 'summary_only',
  request_max_bytes: 65_536,
  response_max_bytes: 65_536,
  stream_max_events: 128,
  redaction_paths: [],
}

/** Problems of redaction paths and harnesses that cannot match, and of invalid schedules. */
export function* checkRequestLogging(draft: ConfigDraft): Iterable<Problem> {
  const section = draft.section(requestLogging.name) as
    | {
        payloads?: { redaction_paths?: readonly unknown[] }
        purge?: { schedule?: unknown }
        harnesses?: readonly { starts?: readonly unknown[]; contains?: readonly unknown[] }[]
      }
    | undefined
  for (const [index, path] of (section?.payloads?.redaction_paths ?? []).entries()) {
    const fault = typeof path === 'string' ? pathFault(path) : undefined
    if (fault !== undefined) {
      yield { path: [requestLogging.name, 'payloads', 'redaction_paths', index], ...fault }
    }
  }
  const schedule = section?.purge?.schedule
  const fault = typeof schedule === 'string' ? scheduleFault(schedule) : undefined
  if (fault !== undefined) yield { path: [requestLogging.name, 'purge', 'schedule'], ...fault }
  for (const [index, harness] of (section?.harnesses ?? []).entries()) {
    const { starts = [], contains = [] } = harness ?? {}
    if (starts.length + contains.length > 0) continue
    yield {
      path: [requestLogging.name, 'harnesses', index],
      message: 'cannot match any User-Agent',
      hint: 'set starts or contains, such as starts: [my-agent/]',
    }
  }
}
