import { createHash } from 'node:crypto'
import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
} from 'yaml'
import { type ConfigPath, formatPath, type Problem } from '../plugin/index.ts'
import { deepFreeze } from '../plugin/json.ts'
import type { LocatedProblem } from './problems.ts'

/** Limit on nodes that all aliases of a file expand to, against expansion attacks. */
const MAX_ALIASED_NODES = 100_000
const MAX_DEPTH = 64
const MAX_SYNTAX_ERRORS = 10
/** Hints for syntax errors whose message does not say how to fix them. */
const REMEDIES: { readonly [Code in ErrorCode]?: string } = {
  BAD_SCALAR_START: 'put the text in quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'indent the next line like this one, or put a text that holds ": " in quotes',
  MULTILINE_IMPLICIT_KEY: 'write "key: value", with a space behind the colon',
  TAB_AS_INDENT: 'indent with spaces',
}

export interface Place {
  readonly line: number
  readonly column: number
}

export interface ParsedConfig {
  /** The content, deep-frozen; undefined if the text is not a YAML map. */
  readonly data: Readonly<Record<string, unknown>> | undefined
  /** First 12 hex digits of SHA-256 of the content, without comments, layout and key order. */
  readonly version: string
  readonly problems: readonly LocatedProblem[]
  /** The place of a path in the text, or of the nearest part around it. */
  locate(path: ConfigPath): Place | undefined
}

/** Canonical JSON with sorted keys, so that equal content gives equal text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

/** Why Postgres cannot store a text; most values of the file are stored there. */
function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'contains the character U+0000'
  return text.isWellFormed() ? undefined : 'contains an unpaired surrogate'
}

type Report = (path: ConfigPath, at: Node | null, message: string, hint?: string) => void

/** Turns the syntax tree into plain data and notes the place of each value. */
function createReader(
  doc: Document,
  note: (path: ConfigPath, at: Node | null) => void,
  report: Report,
) {
  const open = new Set<Node>()
  let aliasDepth = 0
  let aliasedNodes = 0

  function readMap(map: YAMLMap, path: ConfigPath): Record<string, unknown> {
    const result: Record<string, unknown> = {}
    for (const pair of map.items) {
      const keyNode = pair.key as Node
      const key = isScalar(keyNode) ? String(keyNode.value) : String(keyNode)
      const at = [...path, key]
      const fault = textFault(key)
      if (fault !== undefined) report(path, keyNode, `the name of a key ${fault}`)
      else if (key === '__proto__') report(at, keyNode, 'is an unknown key')
      else if (key === '<<' && isScalar(keyNode) && keyNode.type === 'PLAIN') {
        const hint = 'copy the fields, or use the alias for the whole map'
        report(at, keyNode, 'YAML merge keys are not supported', hint)
      } else if (Object.hasOwn(result, key)) {
        report(at, keyNode, 'is written twice', 'remove one of them')
      } else {
        note(at, keyNode)
        result[key] = read(pair.value as Node | null, at)
      }
    }
    return result
  }

  function read(node: Node | null, path: ConfigPath): unknown {
    if (node === null) return null
    if (aliasDepth > 0 && ++aliasedNodes > MAX_ALIASED_NODES) {
      if (aliasedNodes === MAX_ALIASED_NODES + 1)
        report(path, null, 'aliases expand to too many values')
      return null
    }
    if (path.length > MAX_DEPTH) {
      report(path.slice(0, 8), node, 'is nested too deeply')
      return null
    }
    if (isAlias(node)) {
      const target = node.resolve(doc)
      if (target === undefined || open.has(target)) {
        report(
          path,
          node,
          target === undefined
            ? `no anchor &${node.source} before this alias`
            : 'the alias refers to a value that contains it',
        )
        return null
      }
      aliasDepth++
      const value = read(target, path)
      aliasDepth--
      return value
    }
    open.add(node)
    let value: unknown = null
    if (isMap(node)) value = readMap(node, path)
    else if (isSeq(node)) {
      value = node.items.map((item, index) => {
        const at = [...path, index]
        note(at, item as Node | null)
        return read(item as Node | null, at)
      })
    } else if (isScalar(node)) {
      if (typeof node.value === 'object' && node.value !== null) {
        report(path, node, 'has a YAML tag that is not supported')
      } else value = node.value
      const fault = typeof value === 'string' ? textFault(value) : undefined
      if (fault !== undefined) report(path, node, fault)
    }
    open.delete(node)
    return value
  }
  return read
}

/** Parses the text of a config file. */
export function parseConfig(text: string): ParsedConfig {
  const lines = new LineCounter()
  const places = new Map<string, Place>()
  const problems: LocatedProblem[] = []

  function placeAt(offset: number): Place {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  function locate(path: ConfigPath): Place | undefined {
    for (let length = path.length; length > 0; length--) {
      const place = places.get(formatPath(path.slice(0, length)))
      if (place !== undefined) return place
    }
    return undefined
  }
  function parsed(data: Record<string, unknown> | undefined): ParsedConfig {
    const hash = createHash('sha256').update(canonical(data ?? null))
    const version = hash.digest('hex').slice(0, 12)
    return { data: deepFreeze(data), version, problems, locate }
  }
  function report(problem: Problem, place: Place | undefined) {
    problems.push({ ...problem, ...place })
  }

  let doc: Document
  try {
    doc = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      stringKeys: true,
      uniqueKeys: false,
    })
  } catch (error) {
    report({ path: [], message: `cannot be read as YAML: ${String(error)}` }, undefined)
    return parsed(undefined)
  }
  for (const warning of doc.warnings) {
    report({ path: [], message: warning.message, severity: 'warning' }, placeAt(warning.pos[0]))
  }
  if (doc.errors.length > 0) {
    const seen = new Set<number>()
    for (const error of doc.errors) {
      const place = placeAt(error.pos[0])
      // One syntax mistake often causes several errors on the same line.
      if (seen.has(place.line) || seen.size === MAX_SYNTAX_ERRORS) continue
      seen.add(place.line)
      const message =
        error.code === 'MULTIPLE_DOCS'
          ? 'a second YAML document begins here, and the file must have one document'
          : `YAML syntax: ${error.message}`
      const hint = REMEDIES[error.code]
      report({ path: [], message, ...(hint === undefined ? {} : { hint }) }, place)
    }
    return parsed(undefined)
  }
  if (doc.contents === null || (isScalar(doc.contents) && doc.contents.value === null)) {
    return parsed({})
  }
  if (!isMap(doc.contents)) {
    report(
      { path: [], message: 'must be a map of sections', hint: 'models: …' },
      { line: 1, column: 1 },
    )
    return parsed(undefined)
  }
  const placeOf = (node: Node | null) => (node?.range ? placeAt(node.range[0]) : undefined)
  const read = createReader(
    doc,
    (path, at) => {
      const place = placeOf(at)
      if (place !== undefined) places.set(formatPath(path), place)
    },
    (path, at, message, hint) =>
      report(
        { path, message, ...(hint === undefined ? {} : { hint }) },
        placeOf(at) ?? locate(path),
      ),
  )
  return parsed(read(doc.contents, []) as Record<string, unknown>)
}
