import { type AgentHarness, createClassifier, type HarnessRule } from './agent-harness.ts'
import type { HarnessName, HarnessStore } from './harness-store.ts'

export interface Harnesses {
  /** The coding agent that a User-Agent claims to be. */
  classify(userAgent: string | undefined): AgentHarness
  /** Takes the rules of a config, which go before names. */
  configure(rules: readonly HarnessRule[]): void
  /** Reads the names that administrators gave. */
  refresh(): Promise<void>
}

/** What tells coding agents: the config, then names that administrators gave, then what is built in. */
export function createHarnesses(store: Pick<HarnessStore, 'names'>): Harnesses {
  let rules: readonly HarnessRule[] = []
  let names: readonly HarnessName[] = []
  let classify = createClassifier([])
  const rebuild = () => {
    const named = names.map(({ key, label, starts }) => ({ key, label, starts: [starts] }))
    // The longest beginning is the most exact one.
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
