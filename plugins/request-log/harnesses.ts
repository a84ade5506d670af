import { type AgentHarness, createClassifier, type HarnessRule } from './agent-harness.ts'
import type { HarnessName, HarnessStore } from './harness-store.ts'

export interface Harnesses {
  /** The coding agent that a User-Agent names. */
  classify(userAgent: string | undefined): AgentHarness
  /** Applies the rules of a config, which take precedence over names. */
  configure(rules: readonly HarnessRule[]): void
  /** Loads the names that administrators set. */
  refresh(): Promise<void>
}

/**
 * Identifies coding agents: by the config, then by administrators' names, then by built-in rules.
 */
export function createHarnesses(store: Pick<HarnessStore, 'names'>): Harnesses {
  let rules: readonly HarnessRule[] = []
  let names: readonly HarnessName[] = []
  let classify = createClassifier([])
  const rebuild = () => {
    const named = names.map(({ key, label, starts }) => ({ key, label, starts: [starts] }))
    // The longest prefix is the most specific.
    named.sort((a, b) => (b.starts[0] ?? '').length - (a.starts[0] ?? '').length)
    classify = createClassifier([...rules, ...named])
  }
  return {
    classify: (userAgent) => classify(userAgent),
    configure(next) {
      rules = next
      rebuild()
    },
    async refresh() {
      names = await store.names()
      rebuild()
    },
  }
}
