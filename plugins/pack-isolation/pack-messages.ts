import type { GuardInput, GuardrailPack } from 'model-gateway/guardrail'

/** The data of a pack, without its functions. */
export type PackFacts = Pick<
  GuardrailPack,
  'id' | 'aliases' | 'version' | 'summary' | 'phases' | 'rules'
>

/** Message to the thread of a pack plugin. The first one is `start`, which is sent only once. */
export type ToThread =
  | {
      readonly kind: 'start'
      /** `builtin:NAME`, or the path of the plugin's module. */
      readonly module: string
      readonly config: unknown
      /** Ids of packs to prepare at the start, because they were prepared before. */
      readonly prepared: readonly string[]
    }
  | { readonly kind: 'prepare'; readonly pack: string }
  | { readonly kind: 'evaluate' | 'explain'; readonly pack: string; readonly input: GuardInput }

/**
 * Message from the thread: one `done` or `threw` for each message to it, and log lines at any time.
 */
export type FromThread =
  | {
      readonly kind: 'done'
      /** For `start`: the data of all packs. */
      readonly result: unknown
      readonly heapBytes: number
    }
  /** The name of the error, because its message may quote the input; for `start`, the message. */
  | { readonly kind: 'threw'; readonly error: string; readonly heapBytes: number }
  | { readonly kind: 'log'; readonly line: string }
