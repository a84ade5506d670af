import type { GuardPhase } from 'model-gateway/guardrail'
import { type Problem, SecretRef, type Static, Type } from 'model-gateway/plugin'
import { checkEndpointUrl, endpointUrl, maxRetries } from '../_shared/config.ts'

const strict = { additionalProperties: false }

const ARN = '^arn:aws(-[a-z]+)*:bedrock:([a-z0-9-]+):[0-9]{12}:guardrail/[a-z0-9]+$'

export const phases: readonly GuardPhase[] = [
  'prompt',
  'model_response',
  'generated_tool_call',
  'mcp_call',
  'mcp_result',
]

export const configSchema = Type.Object(
  {
    region: Type.String({
      pattern: '^[a-z]{2,}(-[a-z]+)+-[0-9]+$',
      description: 'write the region of the service, such as us-east-1',
    }),
    guardrail_identifier: Type.String({
      pattern: `^[a-z0-9]+$|${ARN}`,
      description: "write the guardrail's id, such as gr1abc23def4, or its ARN",
    }),
    guardrail_version: Type.Union(
      [
        Type.String({
          pattern: '^([1-9][0-9]{0,7}|DRAFT)$',
          description: 'write the number of a version, or DRAFT',
        }),
        Type.Integer({ minimum: 1, maximum: 99_999_999 }),
      ],
      { description: 'Version number of the guardrail, or DRAFT' },
    ),
    auth: Type.Optional(
      Type.Union(
        [
          Type.Object({ kind: Type.Literal('default_chain') }, strict),
          Type.Object(
            {
              kind: Type.Literal('static'),
              access_key_id: SecretRef({ description: 'Access key id' }),
              secret_access_key: SecretRef({ description: 'Secret access key' }),
              session_token: Type.Optional(
                SecretRef({ description: 'Session token of temporary credentials' }),
              ),
            },
            strict,
          ),
        ],
        { description: 'How calls authenticate. Default default_chain' },
      ),
    ),
    max_retries: maxRetries,
    endpoint_url: endpointUrl,
  },
  strict,
)
export type Config = Static<typeof configSchema>

export function* checkConfig(config: Readonly<Record<string, unknown>>): Iterable<Problem> {
  yield* checkEndpointUrl(config.endpoint_url)
  const { region, guardrail_identifier: identifier } = config
  if (typeof region !== 'string' || typeof identifier !== 'string') return
  const named = new RegExp(ARN).exec(identifier)?.[2]
  if (named === undefined || named === region) return
  yield {
    path: ['guardrail_identifier'],
    message: `names a guardrail of ${named}, but the calls go to ${region}`,
    hint: `set region to ${named}`,
    severity: 'warning',
  }
}
