import { createHash } from 'node:crypto'

/** Rules for tool names of an upstream. */
export interface NameLimit {
  readonly fits: RegExp
  readonly longest: number
}

/** `ToolSpecification` of Converse, and functions of OpenAI's API. */
export const NAMES_OF_64: NameLimit = { fits: /^[a-zA-Z0-9_-]{1,64}$/, longest: 64 }
/** Tools of Anthropic's API, on its clouds too. */
export const NAMES_OF_128: NameLimit = { fits: /^[a-zA-Z0-9_-]{1,128}$/, longest: 128 }
/** `FunctionDeclaration` of Vertex AI. */
export const GOOGLE_NAMES: NameLimit = { fits: /^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$/, longest: 64 }

/** Maps the tool names of one call between caller and upstream. */
export interface ToolNames {
  /** The name to send: the caller's, if valid. */
  sent(name: string): string
  /** The caller's name for a sent one. Other names are unchanged. */
  asked(name: string): string
  /** The caller's names, by the replacements that were sent. */
  readonly renamed: ReadonlyMap<string, string>
}

/** The suffix of each shortened name. */
const SHORTENED = /_[0-9a-f]{12}$/

/**
 * Replaces invalid names by a prefix and a hash. The replacement depends only on the name, so it is
 * the same in each turn and process. A name that looks like a replacement is replaced too, so that
 * replacements are unique.
 */
export function createToolNames({ fits, longest }: NameLimit): ToolNames {
  const renamed = new Map<string, string>()
  return {
    sent(name) {
      if (fits.test(name) && !SHORTENED.test(name)) return name
      const hash = createHash('sha256').update(name).digest('hex').slice(0, 12)
      const plain = name.replace(/[^a-zA-Z0-9_-]/g, '_')
      const begun = /^[a-zA-Z]/.test(plain) ? plain : `t${plain}`
      const short = `${begun.slice(0, longest - hash.length - 1)}_${hash}`
      renamed.set(short, name)
      return short
    },
    asked: (name) => renamed.get(name) ?? name,
    renamed,
  }
}
