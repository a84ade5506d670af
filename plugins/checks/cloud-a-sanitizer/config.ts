import type { GuardPhase } from 'model-gateway/guardrail'
import { type Problem, SecretRef, type Static, Type } from 'model-gateway/plugin'
import { checkEndpointUrl, endpointUrl, maxRetries } from '../_shared/config.ts'

const strict = { additionalProperties: false }

const PROJECT = '[A-Za-z0-9][A-Za-z0-9.:_-]*'
const TEMPLATE = `^projects/(${PROJECT})/locations/([a-z0-9-]+)/templates/[A-Za-z0-9_-]+$`

export const phases: readonly GuardPhase[] = ['prompt', 'model_response', 'mcp_call', 'mcp_result']

const template = Type.String({
  pattern: TEMPLATE,
  description: 'write projects/PROJECT/locations/LOCATION/templates/NAME',
})

export const configSchema = Type.Object(
  {
    project: Type.String({
      pattern: `^${PROJECT}$`,
      description: 'write the id or the number of the project that the templates belong to',
    }),
    location: Type.String({
      pattern: '^[a-z][a-z0-9-]*$',
      description: 'write the location of the templates, such as us-central1',
    }),
    prompt_template: template,
    response_template: template,
    auth: Type.Object(
      {
        kind: Type.Literal('bearer_token', { description: 'How calls authenticate' }),
        token: SecretRef({ description: 'An access token' }),
      },
      strict,
    ),
    max_retries: maxRetries,
    endpoint_url: endpointUrl,
  },
  strict,
)
export type Config = Static<typeof configSchema>

/** A project has an id and a number, and a template name may contain either. */
const NUMBER = /^[0-9]+$/

export function* checkConfig(config: Readonly<Record<string, unknown>>): Iterable<Problem> {
  yield* checkEndpointUrl(config.endpoint_url)
  const { project, location } = config
  for (const name of ['prompt_template', 'response_template']) {
    const value = config[name]
    const match = typeof value === 'string' ? new RegExp(TEMPLATE).exec(value) : null
    if (match === null) continue
    const [, inProject = '', inLocation] = match
    if (typeof location === 'string' && inLocation !== location) {
      yield {
        path: [name],
        message: `is in ${inLocation}, but location is ${location}`,
        hint: 'templates can be called only in their own location: choose a template in this location',
      }
    }
    if (typeof project !== 'string' || inProject === project) continue
    if (NUMBER.test(project) !== NUMBER.test(inProject)) continue
    yield {
      path: [name],
      message: `belongs to the project ${inProject}, but project is ${project}`,
      hint: 'name the same project in both',
    }
  }
}
