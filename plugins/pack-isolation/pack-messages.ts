import type { GuardInput, GuardrailPack } from 'model-gateway/guardrail'

/** What a pack says of itself, without its functions. */
export type PackFacts = Pick<
  GuardrailPack,
  'id' | 'aliases' | 'version' | 'summary' | 'phases' | 'rules'
>

/** To the thread of a pack plugin. The first message is `start`, the only one of its kind. */
export type ToThread =
  | {
      readonly kind: 'start'
      /** `builtin:NAME`, or the path of the plugin's module. */
      readonly module: string
      readonly config: unknown
      /** Ids of packs that have been made ready before. */
      readonly prepared: readonly string[]
    }
  | { readonly kind: 'prepare'; readonly pack: string }
  | { readonly kind: 'evaluate' | 'explain'; readonly pack: string; readonly input: GuardInput }

/** From the thread: one `done` or `threw` for each message to it, and log lines at any time. */
export type FromThread =
  | {
      readonly kind: 'done'
      /** Of `start`: the facts of all packs. */
      readonly result: unknown
      readonly heapBytes: number
    }
  /** Only what an error is called: its message may quote what was judged. That of `start` is whole. */
  | { readonly kind: 'threw'; readonly error: string; readonly heapBytes: number }
  | { readonly kind: 'log'; readonly line: string }
