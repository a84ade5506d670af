import { hidesText } from '@/lib/hidden-text.ts'

/** The parts of a tool's definition that are compared between versions. */
export interface Definition {
  readonly description: string | null
  readonly annotations: Readonly<Record<string, unknown>> | null
  readonly input_schema: Readonly<Record<string, unknown>>
}

/** A change that an admin should review; `risky`: review first. */
export interface Flag {
  readonly text: string
  readonly risky: boolean
}

export interface Stretch {
  readonly kind: 'same' | 'gone' | 'new'
  readonly text: string
}

const MOST_WORDS = 800

/** The changes between two versions that an admin should review. */
export function flagsOf(before: Definition, after: Definition): readonly Flag[] {
  const flags: Flag[] = []
  const flag = (text: string, risky = false) => void flags.push({ text, risky })
  const was = parametersOf(before.input_schema)
  const is = parametersOf(after.input_schema)
  if (before.description !== after.description) flag('description changed')
  if (hidesText(after.description) && !hidesText(before.description)) {
    flag('description has invisible characters', true)
  }
  for (const [name, { required }] of is) {
    const old = was.get(name)
    if (old === undefined) flag(`${required ? 'required ' : ''}parameter added: ${name}`, required)
    else if (required && !old.required) flag(`now required: ${name}`, true)
    else if (!required && old.required) flag(`no longer required: ${name}`)
  }
  for (const name of was.keys()) if (!is.has(name)) flag(`parameter removed: ${name}`, true)
  for (const [name, { type }] of is) {
    const old = was.get(name)?.type
    if (old !== undefined && old !== type) flag(`type changed: ${name}`, true)
  }
  const hint = (of: Definition, name: string) => of.annotations?.[name] === true
  if (hint(after, 'destructiveHint') && !hint(before, 'destructiveHint')) {
    flag('now marked as destructive', true)
  }
  if (hint(before, 'readOnlyHint') && !hint(after, 'readOnlyHint')) {
    flag('no longer marked as read-only', true)
  }
  return flags
}

interface Parameter {
  readonly required: boolean
  readonly type: string
}

function parametersOf({ properties, required }: Definition['input_schema']) {
  const names = typeof properties === 'object' && properties !== null ? properties : {}
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return new Map<string, Parameter>(
    Object.entries(names).map(([name, schema]) => [
      name,
      { required: needed.includes(name), type: JSON.stringify(schema?.type ?? null) },
    ]),
  )
}

/** Compares a text with an older one word by word; very long texts as a whole. */
export function compareTexts(before: string, after: string): readonly Stretch[] {
  const was = before.split(/(?<=\s)(?=\S)/)
  const is = after.split(/(?<=\s)(?=\S)/)
  if (was.length > MOST_WORDS || is.length > MOST_WORDS) {
    return joined([
      { kind: 'gone', text: before },
      { kind: 'new', text: after },
    ])
  }
  // common[i][j]: length of the longest common subsequence of `was` from i and `is` from j.
  const common = Array.from({ length: was.length + 1 }, () => new Uint16Array(is.length + 1))
  for (let i = was.length - 1; i >= 0; i--) {
    for (let j = is.length - 1; j >= 0; j--) {
      const row = common[i] as Uint16Array
      const below = common[i + 1] as Uint16Array
      row[j] =
        was[i] === is[j]
          ? (below[j + 1] as number) + 1
          : Math.max(below[j] as number, row[j + 1] as number)
    }
  }
  const stretches: Stretch[] = []
  let i = 0
  let j = 0
  while (i < was.length || j < is.length) {
    if (i < was.length && j < is.length && was[i] === is[j]) {
      stretches.push({ kind: 'same', text: was[i++] as string })
      j++
    } else if (
      j >= is.length ||
      (i < was.length && (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))
    ) {
      stretches.push({ kind: 'gone', text: was[i++] as string })
    } else stretches.push({ kind: 'new', text: is[j++] as string })
  }
  return joined(stretches)
}

function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  return stretches.reduce<Stretch[]>((all, { kind, text }) => {
    const last = all.at(-1)
    if (last?.kind === kind) all[all.length - 1] = { kind, text: last.text + text }
    else if (text !== '') all.push({ kind, text })
    return all
  }, [])
}
