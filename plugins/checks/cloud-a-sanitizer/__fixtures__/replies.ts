/** Replies in the shape that Model Armor's reference publishes, written for these tests. */

const state = (matchState: string) => ({ executionState: 'EXECUTION_SUCCESS', matchState })
const none = state('NO_MATCH_FOUND')
const found = state('MATCH_FOUND')

export const quiet = {
  csam: { csamFilterFilterResult: none },
  malicious_uris: { maliciousUriFilterResult: none },
  rai: {
    raiFilterResult: {
      ...none,
      raiFilterTypeResults: {
        sexually_explicit: { matchState: 'NO_MATCH_FOUND' },
        hate_speech: { matchState: 'NO_MATCH_FOUND' },
        harassment: { matchState: 'NO_MATCH_FOUND' },
        dangerous: { matchState: 'NO_MATCH_FOUND' },
      },
    },
  },
  pi_and_jailbreak: { piAndJailbreakFilterResult: none },
  sdp: { sdpFilterResult: { inspectResult: none } },
}

export const rai = {
  rai: {
    raiFilterResult: {
      ...found,
      raiFilterTypeResults: {
        ...quiet.rai.raiFilterResult.raiFilterTypeResults,
        dangerous: { confidenceLevel: 'HIGH', matchState: 'MATCH_FOUND' },
      },
    },
  },
}
/** The kind says what the filter as a whole does not. */
export const raiKind = {
  rai: {
    raiFilterResult: {
      ...none,
      raiFilterTypeResults: rai.rai.raiFilterResult.raiFilterTypeResults,
    },
  },
}
export const jailbreak = {
  pi_and_jailbreak: {
    piAndJailbreakFilterResult: { ...found, confidenceLevel: 'MEDIUM_AND_ABOVE' },
  },
}
export const uris = {
  malicious_uris: {
    maliciousUriFilterResult: {
      ...found,
      maliciousUriMatchedItems: [
        { uri: 'https://match-canary.example', locations: [{ start: '0', end: '28' }] },
      ],
    },
  },
}
export const csam = { csam: { csamFilterFilterResult: found } }
export const inspected = {
  sdp: {
    sdpFilterResult: {
      inspectResult: {
        ...found,
        findings: [
          {
            infoType: 'EMAIL_ADDRESS',
            likelihood: 'LIKELY',
            location: { byteRange: { end: '9' } },
          },
        ],
        findingsTruncated: false,
      },
    },
  },
}
export const masked = (data: unknown) => ({
  sdp: {
    sdpFilterResult: {
      deidentifyResult: {
        ...found,
        data,
        transformedBytes: '24',
        infoTypes: ['EMAIL_ADDRESS'],
      },
    },
  },
})
export const unmasked = (data: unknown) => ({
  sdp: { sdpFilterResult: { deidentifyResult: { ...none, data } } },
})
export const skipped = {
  pi_and_jailbreak: {
    piAndJailbreakFilterResult: {
      executionState: 'EXECUTION_SKIPPED',
      messageItems: [{ messageType: 'WARNING', message: 'Text is too long.' }],
      matchState: 'NO_MATCH_FOUND',
    },
  },
}
export const unheardOf = {
  virus_scan: { virusScanFilterResult: { ...none, matchState: 'MATCH_PENDING' } },
}

/** A reply; what the filters found replaces what they did not find. */
export function reply(
  filters: Record<string, unknown>,
  {
    filterMatchState = Object.keys(filters).length > 0 ? 'MATCH_FOUND' : 'NO_MATCH_FOUND',
    invocationResult = 'SUCCESS',
  } = {},
) {
  return {
    sanitizationResult: {
      filterMatchState,
      invocationResult,
      filterResults: { ...quiet, ...filters },
      sanitizationMetadata: {},
    },
  }
}
