/** Replies in the shape that ApplyGuardrail's reference publishes, written for these tests. */

const usage = {
  topicPolicyUnits: 1,
  contentPolicyUnits: 1,
  wordPolicyUnits: 1,
  sensitiveInformationPolicyUnits: 1,
  sensitiveInformationPolicyFreeUnits: 0,
  contextualGroundingPolicyUnits: 0,
}
const guardrailCoverage = { textCharacters: { guarded: 44, total: 44 } }
const invocationMetrics = { guardrailProcessingLatency: 212, usage, guardrailCoverage }

export const passed = {
  usage,
  action: 'NONE',
  outputs: [],
  assessments: [{ invocationMetrics }],
  guardrailCoverage,
}

export function intervened(policies: Record<string, unknown>, outputs: readonly string[]) {
  return {
    usage,
    action: 'GUARDRAIL_INTERVENED',
    actionReason: 'Guardrail blocked or masked.',
    outputs: outputs.map((text) => ({ text })),
    assessments: [{ ...policies, invocationMetrics }],
    guardrailCoverage,
  }
}

export const topic = {
  topicPolicy: {
    topics: [{ name: 'investments', type: 'DENY', action: 'BLOCKED', detected: true }],
  },
}
export const violence = {
  contentPolicy: {
    filters: [
      {
        type: 'VIOLENCE',
        confidence: 'HIGH',
        filterStrength: 'LOW',
        action: 'BLOCKED',
        detected: true,
      },
    ],
  },
}
export const words = {
  wordPolicy: {
    customWords: [{ match: 'match-canary', action: 'BLOCKED', detected: true }],
    managedWordLists: [
      { match: 'match-canary', type: 'PROFANITY', action: 'BLOCKED', detected: true },
    ],
  },
}
export const ungrounded = {
  contextualGroundingPolicy: {
    filters: [{ type: 'GROUNDING', threshold: 0.8, score: 0.2, action: 'BLOCKED', detected: true }],
  },
}

export const email = (action: string) => ({
  sensitiveInformationPolicy: {
    piiEntities: [{ match: 'match-canary@example.com', type: 'EMAIL', action, detected: true }],
    regexes: [],
  },
})
export const ticket = (action: string) => ({
  sensitiveInformationPolicy: {
    piiEntities: [],
    regexes: [
      { name: 'ticket', match: 'match-canary-1', regex: '[a-z-]+-1', action, detected: true },
    ],
  },
})
