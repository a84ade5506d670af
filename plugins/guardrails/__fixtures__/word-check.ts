import type { GuardPhase } from 'model-gateway/guardrail'
import { definePlugin, Type } from 'model-gateway/plugin'
import {
  CheckFailure,
  type CheckFailureReason,
  type CheckVerdict,
  type ManagedCheck,
  managedCheckKinds,
} from '../contract.ts'

export const phases: readonly GuardPhase[] = ['prompt', 'model_response', 'generated_tool_call']
const Config = Type.Object(
  { denied_word: Type.String({ minLength: 1 }), mask: Type.String({ default: '[masked]' }) },
  { additionalProperties: false },
)

/** Checks that were made and not yet disposed. */
export const open = new Set<ManagedCheck>()

/** Does what the words in a text say. */
export function wordCheck(deniedWord: string, mask = '[masked]'): ManagedCheck {
  const check: ManagedCheck = {
    async evaluate({ text, signal }): Promise<CheckVerdict> {
      if (text.includes('THROW')) throw new Error(`cannot judge ${text}`)
      if (text.includes('GARBAGE')) return {} as CheckVerdict
      if (text.includes('UNSHAPED')) return { action: 'transformed', text: '[]' }
      const failure = /FAIL:([a-z._]+)/.exec(text)?.[1]
      if (failure !== undefined) throw new CheckFailure(failure as CheckFailureReason, 'as told')
      if (text.includes('SLOW')) await Bun.sleep(20)
      if (text.includes('DEAF')) await new Promise(() => {})
      if (text.includes('HANG')) {
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        )
      }
      if (text.includes(deniedWord)) return { action: 'deny', reasonCode: 'word.denied' }
      const masked = text.replaceAll('SECRET', mask)
      return masked === text ? { action: 'allow' } : { action: 'transformed', text: masked }
    },
    dispose: () => void open.delete(check),
  }
  open.add(check)
  return check
}

/** A kind of managed check: `word_list`, also called `words`. */
export default definePlugin({
  manifest: {
    id: 'plugin.word-check',
    version: '0.0.1',
    contract: 1,
    summary: 'A managed check that knows a few words.',
    config: Type.Object({}, { additionalProperties: false }),
    declares: [
      {
        point: managedCheckKinds,
        spec: {
          kind: 'word_list',
          aliases: ['words'],
          phases,
          config: Config,
          *check({ denied_word }: { denied_word?: unknown }) {
            if (denied_word === 'the') yield { path: ['denied_word'], message: 'is in every text' }
          },
        },
      },
    ],
    needs: [],
  },
  setup(ctx) {
    ctx.provide(managedCheckKinds, {
      kind: 'word_list',
      create: ({ denied_word, mask }) => wordCheck(denied_word, mask),
    })
  },
})
