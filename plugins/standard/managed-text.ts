import { isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml'

/** The sections that a managed file may have. */
export const managedSections = ['providers', 'models'] as const
export type ManagedSection = (typeof managedSections)[number]
export type ManagedItems = Readonly<Record<ManagedSection, readonly unknown[]>>

/** A section of the main file to which entries cannot be added. */
export class SectionError extends Error {
  readonly section: ManagedSection
  constructor(section: ManagedSection) {
    super('is not a plain YAML list, so entries cannot be added to it')
    this.section = section
  }
}

interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/**
 * The text of a config file with more items at the ends of its lists, each on one line as JSON,
 * which is valid YAML. The rest stays unchanged. Throws SectionError.
 */
export function addItems(main: string, items: ManagedItems): string {
  return managedSections
    .filter((section) => items[section].length > 0)
    .reduce((text, section) => {
      const { from, to, text: added } = editOf(text, section, items[section].map(oneLine))
      return text.slice(0, from) + added + text.slice(to)
    }, main)
}

const oneLine = (item: unknown) => JSON.stringify(item ?? null)

function editOf(main: string, section: ManagedSection, lines: readonly string[]): Edit {
  const doc = parseDocument(main, { uniqueKeys: false, stringKeys: true, keepSourceTokens: true })
  const root = isMap(doc.contents) ? doc.contents : undefined
  const pair = root?.items.find(({ key }) => isScalar(key) && key.value === section)
  if (pair === undefined) return newSection(main, root, section, lines)
  const { value } = pair
  const list = lines.join(', ')
  if (isSeq(value)) return value.flow ? inBrackets(value, list) : inBlock(main, value, lines)
  if (value === null || (isScalar(value) && value.value === null && value.anchor === undefined)) {
    return inEmpty(main, pair, `[${list}]`)
  }
  throw new SectionError(section)
}

function newSection(
  main: string,
  root: YAMLMap | undefined,
  section: ManagedSection,
  lines: readonly string[],
): Edit {
  if (root?.flow) {
    const end = endOf(root) - 1
    const text = `${separator(root)}"${section}": [${lines.join(', ')}]`
    return { from: end, to: end, text }
  }
  const at = root === undefined ? main.length : nextLine(main, endOf(root))
  const indent = ' '.repeat(root === undefined ? 0 : columnOf(main, root.range?.[0] ?? 0))
  const text = [`${section}:`, ...lines.map((line) => `  - ${line}`)]
    .map((line) => `${indent}${line}\n`)
    .join('')
  return { from: at, to: at, text: newline(main, at) + text }
}

function inBlock(main: string, list: YAMLSeq, lines: readonly string[]): Edit {
  const { indent } = list.srcToken as { indent: number }
  const at = nextLine(main, endOf(list))
  const text = lines.map((line) => `${' '.repeat(indent)}- ${line}\n`).join('')
  return { from: at, to: at, text: newline(main, at) + text }
}

function inBrackets(list: YAMLSeq, added: string): Edit {
  const end = endOf(list) - 1
  return { from: end, to: end, text: separator(list) + added }
}

/** `providers:` without a value, or with null. */
function inEmpty(main: string, { key, value }: Pair, list: string): Edit {
  const colon = main.indexOf(':', (key as { range: [number, number] }).range[1]) + 1
  const [from, to] = (value as { range?: [number, number] } | null)?.range ?? [colon, colon]
  return from === to ? { from: colon, to: colon, text: ` ${list}` } : { from, to, text: list }
}

/** The separator between the last item in brackets and a new one. */
function separator(list: YAMLSeq | YAMLMap): string {
  if (list.items.length === 0) return ''
  const { items } = list.srcToken as { items: { start: { type: string }[]; value?: object }[] }
  const last = items.at(-1)
  // A trailing comma starts an empty item.
  const hasComma = last?.value === undefined && last?.start.some(({ type }) => type === 'comma')
  return hasComma ? ' ' : ', '
}

const endOf = (node: { range?: readonly [number, number, number] | null }) => node.range?.[1] ?? 0

const columnOf = (text: string, at: number) => at - (text.lastIndexOf('\n', at - 1) + 1)

/** The start of the next line, or `at` if it is the start of a line. */
function nextLine(text: string, at: number): number {
  if (at === 0 || text[at - 1] === '\n') return at
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end + 1
}

const newline = (text: string, at: number) => (at === 0 || text[at - 1] === '\n' ? '' : '\n')
