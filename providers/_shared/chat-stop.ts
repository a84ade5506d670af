import type { JsonValue } from 'model-gateway/plugin'
import type { ParamPolicy } from 'model-gateway/wire'
import { invalidRequest } from './invalid-request.ts'

/** The sequences of `stop`; undefined if there are none. Empty sequences are ignored. */
export function readStop(stop: JsonValue | undefined): string[] | undefined {
  const stated = Array.isArray(stop) ? stop : [stop ?? '']
  const sequences = stated.flatMap((each) => {
    if (typeof each === 'string') return each === '' ? [] : [each]
    throw invalidRequest('stop must be a string or a list of strings')
  })
  return sequences.length === 0 ? undefined : sequences
}

/**
 * The same for Claude: "each stop sequence must contain non-whitespace". Throws GatewayError
 * otherwise, unless the route drops such sequences.
 */
export function readClaudeStop(
  stop: JsonValue | undefined,
  { unsupported, dropped }: ParamPolicy,
): string[] | undefined {
  const sequences = readStop(stop)
  const taken = sequences?.filter((sequence) => sequence.trim() !== '')
  if (taken?.length === sequences?.length) return sequences
  if (unsupported !== 'drop') {
    throw invalidRequest('stop: this model takes no sequences of white space alone')
  }
  dropped('stop')
  return readStop(taken)
}
