import { CheckFailure, type CheckVerdict, type ManagedCheck } from 'model-gateway/guardrail'
import { isJsonObject, type JsonObject, type JsonValue } from 'model-gateway/plugin'
import { allow, createAsk, deny, isBlank, isInput } from '../_shared/call.ts'
import { originOf } from '../_shared/config.ts'
import type { Config } from './config.ts'

/** A check that uses two Model Armor templates on Google Cloud. */
export function createSanitizer(config: Config): ManagedCheck {
  const origin = originOf(config.endpoint_url, `modelarmor.${config.location}.rep.googleapis.com`)
  const ask = createAsk({
    name: 'the sanitizer',
    maxRetries: config.max_retries,
    credentials: async () => ({
      authorization: `Bearer ${await config.auth.token.revealCurrent()}`,
    }),
  })
  const promptUrl = `${origin}/v1/${config.prompt_template}:sanitizeUserPrompt`
  const responseUrl = `${origin}/v1/${config.response_template}:sanitizeModelResponse`
  return {
    async evaluate({ phase, text, signal }) {
      if (isBlank(text)) return allow
      const reply = isInput(phase)
        ? await ask(promptUrl, { userPromptData: { text } }, signal)
        : await ask(responseUrl, { modelResponseData: { text } }, signal)
      return verdictOf(reply.sanitizationResult)
    },
  }
}

const MATCH = 'MATCH_FOUND'
const NO_MATCH = 'NO_MATCH_FOUND'

function verdictOf(result: JsonValue | undefined): CheckVerdict {
  if (!isJsonObject(result)) throw malformed('sent no result')
  const { filterMatchState, invocationResult } = result
  const filters = [...filterResults(result.filterResults)]
  const masks = filters.filter(({ name, state }) => name === MASKING && isMatched(state))
  if (filters.some(({ name, state }) => name !== MASKING && isMatched(state))) return deny
  // A filter matched, but its result has an unknown format: deny.
  if (filterMatchState === MATCH && masks.length === 0) return deny

  const skipped = filters.some(({ state }) => state.executionState === 'EXECUTION_SKIPPED')
  if (invocationResult === 'PARTIAL' || invocationResult === 'FAILURE' || skipped) {
    throw new CheckFailure('managed.unavailable', 'the sanitizer did not run all of its filters')
  }
  const known = filters.every(
    ({ state: { executionState, matchState } }) =>
      (executionState === undefined || executionState === 'EXECUTION_SUCCESS') &&
      (matchState === MATCH || matchState === NO_MATCH),
  )
  if (!known || invocationResult !== 'SUCCESS') throw malformed('reported an unknown state')

  const [mask] = masks
  if (mask !== undefined) {
    const { data } = mask.state
    if (masks.length === 1 && isJsonObject(data) && typeof data.text === 'string') {
      return { action: 'transformed', text: data.text }
    }
    throw malformed('masked the text but did not send the masked text')
  }
  if (filterMatchState === NO_MATCH) return allow
  throw malformed('reported an unknown state')
}

/** The only filter that replaces the text instead of denying it. */
const MASKING = 'deidentifyResult'

interface FilterResult {
  readonly name: string
  readonly state: JsonObject
}

/** The results of the filters: a map by filter or a list; each entry wraps its result. */
function* filterResults(results: JsonValue | undefined): Iterable<FilterResult> {
  if (results === undefined) return
  for (const entry of isContainer(results) ? Object.values(results) : [results]) {
    if (!isJsonObject(entry)) yield { name: '', state: {} }
    else {
      for (const { name, state } of statesIn(entry)) {
        if (name === 'sdpFilterResult') yield* statesIn(state)
        else yield { name, state }
      }
    }
  }
}

function isContainer(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null
}

function statesIn(value: JsonObject): readonly FilterResult[] {
  return Object.entries(value).flatMap(([name, state]) =>
    isJsonObject(state) ? [{ name, state }] : [],
  )
}

/** Whether a filter matched; the responsible-AI filter also reports a match per category. */
function isMatched({ matchState, raiFilterTypeResults: kinds }: JsonObject): boolean {
  if (matchState === MATCH) return true
  return isJsonObject(kinds) && statesIn(kinds).some(({ state }) => state.matchState === MATCH)
}

function malformed(what: string): CheckFailure {
  return new CheckFailure('managed.malformed_response', `the sanitizer ${what}`)
}
