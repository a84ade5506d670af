import { CheckFailure, type CheckVerdict, type ManagedCheck } from 'model-gateway/guardrail'
import { isJsonObject, type JsonObject } from 'model-gateway/plugin'
import { createAwsSigner } from '../../../providers/_shared/aws-signing.ts'
import { allow, createAsk, deny, isBlank, isInput } from '../_shared/call.ts'
import { originOf } from '../_shared/config.ts'
import type { Config } from './config.ts'
import { credentialSource } from './credentials.ts'

export interface Surroundings {
  now(): Date
  /** Called, without secrets, if no credentials are available. */
  warn(message: string): void
}

/** A check that uses one version of a guardrail on Amazon Bedrock (ApplyGuardrail). */
export function createGuardrail(config: Config, { now, warn }: Surroundings): ManagedCheck {
  const { region, guardrail_identifier: identifier, guardrail_version: version } = config
  const origin = originOf(config.endpoint_url, `bedrock-runtime.${region}.amazonaws.com`)
  const url = `${origin}/guardrail/${encodeURIComponent(identifier)}/version/${version}/apply`
  const source = credentialSource(config.auth, { region, now: () => now().getTime(), warn })
  const signer = createAwsSigner({ region, service: 'bedrock' }, source, now)
  const ask = createAsk({
    name: 'the guardrail service',
    maxRetries: config.max_retries,
    credentials: async (request) => signer.credentials(request),
    refused(credentials, error) {
      // AccessDenied is a missing permission, which new credentials do not fix.
      if (error?.startsWith('AccessDenied') !== true) signer.refused(credentials)
    },
  })
  return {
    async evaluate({ phase, text, signal }) {
      if (isBlank(text)) return allow
      const question = {
        source: isInput(phase) ? 'INPUT' : 'OUTPUT',
        content: [{ text: { text } }],
        outputScope: 'INTERVENTIONS',
      }
      return verdictOf(await ask(url, question, signal))
    },
  }
}

function verdictOf(reply: JsonObject): CheckVerdict {
  const { action, assessments, outputs } = reply
  if (action === 'NONE') return allow
  if (action !== 'GUARDRAIL_INTERVENED') throw malformed('sent an unknown action')
  // The reply has the same action for blocking and masking, so look at the single filters.
  const actions = [...filterActions(assessments)]
  if (actions.length === 0 || actions.some((each) => each !== 'ANONYMIZED')) return deny
  if (!Array.isArray(outputs)) throw malformed('masked the text but did not send the masked text')
  const [output] = outputs
  if (outputs.length !== 1) {
    const message = `the guardrail service sent ${outputs.length} masked texts instead of one`
    throw new CheckFailure('managed.invalid_transformation', message)
  }
  if (!isJsonObject(output) || typeof output.text !== 'string') {
    throw malformed('masked the text but did not send the masked text')
  }
  return { action: 'transformed', text: output.text }
}

/** The action of each filter that found something. The matched text next to it is never read. */
function* filterActions(assessments: unknown): Iterable<string> {
  for (const assessment of Array.isArray(assessments) ? assessments : []) {
    for (const policy of objectsIn(assessment)) {
      for (const items of Object.values(policy)) {
        for (const item of Array.isArray(items) ? items : []) {
          if (isJsonObject(item) && typeof item.action === 'string') yield item.action
        }
      }
    }
  }
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return isJsonObject(value) ? Object.values(value).filter(isJsonObject) : []
}

function malformed(what: string): CheckFailure {
  return new CheckFailure('managed.malformed_response', `the guardrail service ${what}`)
}
