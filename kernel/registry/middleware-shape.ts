import { seams } from '../plugin/index.ts'

/** What keeps an implementation from being a middleware; `undefined` when nothing does. */
export function middlewareFault(value: unknown): string | undefined {
  const { id, around, before, after, appliesTo, handle } = (value ?? {}) as Partial<
    Record<string, unknown>
  >
  if (typeof id !== 'string' || id === '') return 'has no id'
  if (!(seams as readonly unknown[]).includes(around)) {
    return `stands around "${String(around)}": only ${seams.join(', ')} can be stood around`
  }
  if (typeof handle !== 'function') return 'has no handle'
  for (const [name, list] of Object.entries({ before, after, appliesTo })) {
    if (list !== undefined && !isTexts(list)) return `has a ${name} that is no list of names`
  }
  return undefined
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((part) => typeof part === 'string')
}
