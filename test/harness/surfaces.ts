import type { Dialect, Execute, Surface } from '../../kernel/plugin/index.ts'
import type { Way } from '../../kernel/routing/ways.ts'
import { chatDialect, responsesDialect } from '../../kernel/wire/index.ts'

const dialects: Readonly<Record<string, Dialect>> = {
  chat_completions: chatDialect,
  responses: responsesDialect,
}

/** The surface whose callers speak a dialect, and how a route serves them that speaks it, too. */
export function speaking(dialect: string, execute: Execute = unused) {
  const surface: Surface = {
    id: dialect,
    paths: [`/v1/${dialect}`],
    dialect,
    operation: dialect,
    read: () => ({ model: 'mine', stream: true, features: [], exposedToolCount: 0 }),
  }
  const way: Way = { dialect: dialects[dialect] as Dialect, execute, conversion: undefined }
  return { surface, way }
}

function unused(): never {
  throw new Error('no provider is called in this test')
}
